#!/usr/bin/env bash
# The source archive: the same bytes whenever it is made, the committed files and no others, built without git;
# the recipes that go with it; and what is refused. Made of a clone, so that changes here do not matter.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
git -C "$IKT_SOURCE" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: the sources are no git checkout"; exit 77; }
git clone -q "$IKT_SOURCE" clone 2>err.txt || { fail "clone"; exit 1; }
git -C clone config user.name tester
git -C clone config user.email tester@localhost
release() { clone/scripts/release.sh "$@" >out.txt 2>err.txt; }
version=$(sed -n 's/^project(iktsne VERSION \([0-9.]*\) .*/\1/p' clone/CMakeLists.txt)
name=iktsne-$version

release --draft --output "$work/first" || fail "no archive"
sleep 1.1 # whose times would differ
touch clone/README.md
(umask 077 && TZ=Asia/Tokyo release --draft --output "$work/second") || fail "no second archive"
cmp "first/$name.tar.gz" "second/$name.tar.gz" || fail "two archives of one commit differ"
(cd first && sha256sum --check --quiet "$name.tar.gz.sha256") || fail "the checksum is not that of the archive"

# Unpacked within another checkout, as a package manager's folder may be.
mkdir other && git -C other init -q && tar xzf "first/$name.tar.gz" -C other
(cd "other/$name" && find . -type f -o -type l | sed 's|^\./||' | LC_ALL=C sort) >archived.txt
git -C clone ls-files | LC_ALL=C sort >committed.txt
diff committed.txt archived.txt >out.txt || fail "the archive does not hold the committed files"
commit=$(git -C clone rev-parse HEAD | cut -c1-12)
# knows FOLDER COMMIT
knows() {
    cmake --build "$1" --target ikt_sources >out.txt 2>err.txt || fail "the commit of $1 cannot be asked"
    grep -q "\"$2\"" "$1/generated/sources.c" || fail "the build does not know its commit $2: $(cat "$1/generated/sources.c")"
}
for git in ON OFF; do
    cmake -S "other/$name" -B "built-$git" -DCMAKE_DISABLE_FIND_PACKAGE_Git=$git -DIKT_BUILD_TESTS=OFF \
        -DCMAKE_C_COMPILER="${CC:-cc}" >out.txt 2>err.txt || fail "the archive cannot be configured"
    knows "built-$git" "$commit"
done
# A checkout that moves to another commit is known by it at the next build, without being configured anew.
cmake -S clone -B built -DIKT_BUILD_TESTS=OFF -DCMAKE_C_COMPILER="${CC:-cc}" >out.txt 2>err.txt || fail "the clone cannot be configured"
knows built "$(git -C clone describe --always)"
git -C clone commit -q --allow-empty -m "another commit"
knows built "$(git -C clone describe --always)"
git -C clone reset -q --hard HEAD~1

# Recipes have place, version and checksum, and are what their languages accept.
sum=$(cut -d' ' -f1 "first/$name.tar.gz.sha256")
release --draft --output "$work/third" --url 'https://example.org/a&b|c' || fail "--url"
for recipe in spack/package.py "easybuild/$name-foss-2023b.eb" conda/recipe.yaml; do
    grep -q "$sum" "first/$recipe" || fail "$recipe has not the checksum of the archive"
    grep -q "file://$work/first" "first/$recipe" || fail "$recipe does not say where the archive is"
    grep -qF "https://example.org/a&b|c/$name.tar.gz" "third/$recipe" || fail "$recipe: --url"
done
bash -n first/conda/build.sh || fail "conda/build.sh"
cat >lint.py <<'P'
import ast, sys
folder, version, checksum = sys.argv[1:]
recipe = {}
exec(compile(open(f"{folder}/easybuild/iktsne-{version}-foss-2023b.eb").read(), "eb", "exec"), recipe)
for name in "easyblock name version homepage description toolchain sources moduleclass sanity_check_paths".split():
    assert recipe[name], name
assert recipe["version"] == version and recipe["checksums"] == [checksum]
assert set(recipe["sanity_check_paths"]) == {"files", "dirs"}
for part in recipe["dependencies"] + recipe["builddependencies"]:
    assert len(part) == 2 and all(part), part
assert recipe["sources"][0] % {"version": version} == f"iktsne-{version}.tar.gz"
tree = ast.parse(open(f"{folder}/spack/package.py").read())
calls = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and getattr(c.func, "id", "") == "version"]
assert [(c.args[0].value, c.keywords[0].arg, c.keywords[0].value.value) for c in calls] == [(version, "sha256", checksum)]
try:
    import yaml
except ImportError:
    print("PyYAML is not installed: the recipe for conda was not read")
    sys.exit()
conda = yaml.safe_load(open(f"{folder}/conda/recipe.yaml"))
assert conda["schema_version"] == 1 and str(conda["context"]["version"]) == version
assert conda["source"]["sha256"] == checksum and conda["build"]["script"] == "build.sh"
assert {"build", "host", "run"} == set(conda["requirements"]) and conda["tests"] and conda["about"]["license"]
assert yaml.safe_load(open(f"{folder}/conda/variants.yaml"))["mpi"]
P
python=$(command -v /usr/bin/python3 || command -v python3 || true)
[ -z "$python" ] || "$python" lint.py first "$version" "$sum" >out.txt 2>err.txt || fail "recipes"

# refused WORDS ARGUMENTS...
refused() {
    local words=$1
    shift
    ! release --output "$work/refused" "$@" || fail "not refused: $words"
    grep -q "$words" err.txt || fail "the refusal does not say '$words'"
    [ -z "$(ls refused 2>/dev/null)" ] || fail "refused, but something was written"
}
commit() { git -C clone commit -qam "$1"; }
if grep -m 1 '^## ' clone/CHANGELOG.md | grep -q unreleased; then refused "calls $version unreleased"; fi
echo mine >clone/mine.txt
refused "commit or remove these first" --draft
rm clone/mine.txt
echo >>clone/README.md
refused "README.md" --draft
git -C clone checkout -q README.md
for file in CITATION.cff CHANGELOG.md packaging/spack/package.py packaging/easybuild/iktsne-foss-2023b.eb packaging/conda/recipe.yaml; do
    sed -i "s/^\(version: \|## \| *version(\"\|version = '\|  version: \)$version/\19.9.9/" "clone/$file"
    commit "another version"
    refused "in CMakeLists.txt and '9.9.9' in $file" --draft
    git -C clone reset -q --hard HEAD~1
done
exit "$failed"
