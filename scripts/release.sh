#!/usr/bin/env bash
# Makes the source archive of a release, and the recipes that build from it:
#   scripts/release.sh [--draft] [--output FOLDER] [--url ADDRESS] [--wheels "PYTHON..."]
# FOLDER (./release) gets
#   iktsne-VERSION.tar.gz           the committed files and no others; the same bytes whenever it is made
#   iktsne-VERSION.tar.gz.sha256    for sha256sum --check
#   spack/package.py, easybuild/iktsne-VERSION-foss-2023b.eb, conda/
#   iktsne-VERSION-*.whl            with --wheels: the wheels of these Pythons (scripts/wheel.sh)
# --url is the address of the archive's folder, for the recipes; by default that is FOLDER itself.
# Refused where files are changed or not committed, where CMakeLists.txt, CHANGELOG.md, CITATION.cff and the
# recipes do not name the same version, and, without --draft, where CHANGELOG.md calls it unreleased.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

draft=
output=release
url=
wheels=()
while [ $# -gt 0 ]; do
    case $1 in
    --draft) draft=yes ;;
    --output) output=${2:?--output needs a folder} && shift ;;
    --url) url=${2:?--url needs an address} && shift ;;
    --wheels) read -ra wheels <<<"${2:?--wheels needs names of Pythons}" && shift ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done

[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || fail "this is no git checkout of iktsne"
changed=$(git status --porcelain)
[ -z "$changed" ] || fail "commit or remove these first:
$changed"

version=$(sed -n 's/^project(iktsne VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$version" ] || fail "CMakeLists.txt names no version"
same() { # FILE WHAT-IT-SAYS
    [ "$2" = "$version" ] || fail "the version is $version in CMakeLists.txt and '$2' in $1"
}
heading=$(grep -m 1 '^## ' CHANGELOG.md)
same CHANGELOG.md "$(sed 's/^## \([^ ]*\).*/\1/' <<<"$heading")"
same CITATION.cff "$(sed -n 's/^version: *//p' CITATION.cff)"
same packaging/spack/package.py "$(sed -n 's/^ *version("\([^"]*\)")$/\1/p' packaging/spack/package.py)"
same packaging/easybuild/iktsne-foss-2023b.eb \
    "$(sed -n "s/^version = '\(.*\)'/\1/p" packaging/easybuild/iktsne-foss-2023b.eb)"
same packaging/conda/recipe.yaml "$(sed -n '/^context:/,/^$/s/^  version: *//p' packaging/conda/recipe.yaml)"
[ -n "$draft" ] || [[ "$heading" != *unreleased* ]] ||
    fail "CHANGELOG.md calls $version unreleased: write the date, or make a --draft"

# git sorts the files and gives all of them the time of the commit; gzip adds neither name nor time.
name=iktsne-$version
mkdir -p "$output"
output=$(cd "$output" && pwd)
archive=$output/$name.tar.gz
umask 022
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$archive.part"
mv "$archive.part" "$archive"
sum=$(sha256sum "$archive" | cut -d' ' -f1)
echo "$sum  $name.tar.gz" >"$archive.sha256"

# Recipes with the place and the checksum of the archive: FROM TO
place=$(sed 's/[&|\\]/\\&/g' <<<"${url:-file://$output}/$name.tar.gz") # as sed takes it literally
recipe() {
    mkdir -p "$(dirname "$output/$2")"
    sed -e "s|@URL@|$place|; s|@SHA256@|$sum|" \
        -e "s|^    # url = |    url = |; s|^\( *version(\"$version\"\))|\1, sha256=\"$sum\")|" "packaging/$1" >"$output/$2"
    ! grep -q '@URL@\|@SHA256@' "$output/$2" || fail "packaging/$1 was not filled in"
}
recipe spack/package.py spack/package.py
recipe easybuild/iktsne-foss-2023b.eb "easybuild/$name-foss-2023b.eb"
recipe conda/recipe.yaml conda/recipe.yaml
recipe conda/variants.yaml conda/variants.yaml
recipe conda/build.sh conda/build.sh
grep -q "$sum" "$output/spack/package.py" || fail "packaging/spack/package.py has no version to add the checksum to"
[ ${#wheels[@]} -eq 0 ] || scripts/wheel.sh --output "$output" "${wheels[@]}"
echo "$archive"
echo "$sum"
