"""Vectors as text, as other programs and people write them, and what must come out of them.

    texts.py make     writes files, cases.txt for dump_source, and what is expected, into this folder
    texts.py check    compares what dump_source wrote
"""
import json
import os
import pickle
import random
import re
import sys
from array import array

from cases import check

N, D = 41, 6
cases, expected = [], {}


def case(name, text, rows=None, dataset="X", labels="-", classes=None, names=None, error=None):
    """A file of that text; what dump_source must read from it, or the (code, words) of an error."""
    with open(name + ".txt", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    cases.append(f"{name} {name}.txt {dataset} {labels} auto 0 -")
    expected[name] = dict(rows=rows, classes=classes, names=names, error=error)


def lines(rows, between=","):
    return "".join(between.join(map(repr, row)) + "\n" for row in rows)


def brackets(x):
    """Lists as Python prints them, arrays of JSON on any lines, arrays as numpy prints them."""
    case("list", "".join(f"{row}\n" for row in x), x)
    case("list-comma", "".join(f"{row},\n" for row in x), x)
    case("json-one", json.dumps(x), x)
    case("json-dense", json.dumps(x, separators=(",", ":")), x)
    case("json-indent", json.dumps(x, indent=2), x)
    case("json-lines", "[\n" + ",\n".join(map(json.dumps, x)) + "\n]\n", x)
    case("json-returns", "[\r\n" + ",\r\n".join(map(json.dumps, x)) + "\r\n]\r\n", x)
    spread = ["[" + " ".join(map(repr, r[:4])) + "\n  " + " ".join(map(repr, r[4:])) + "]" for r in x]
    case("numpy-rows", "\n".join(spread) + "\n", x)
    case("numpy-table", "[" + "\n ".join(spread) + "]\n", x)
    case("json-cut", json.dumps(x)[:-20], error=(4, f"vector {N}: no bracket ends it"))
    case("json-ragged", json.dumps(x[:30] + [x[30][1:]] + x[31:]), error=(3, f"vector 31 has {D - 1} cells"))
    case("json-null", json.dumps(x[:30] + [[None] * D]), [*x[:30], [float("nan")] * D])
    case("json-deep", json.dumps([x, x]), error=(3, "vector 1 begins a second array, or .* more than two axes"))
    case("json-twice", json.dumps(x) + json.dumps(x), error=(3, f"vector {N + 2} begins a second array"))
    for name, text in ("comma", "[[1, 2], [3, 4], [5, 6],"), ("bracket", "[[1,2,3],[4,5,6]"), ("return", "[\n[1,2],\n[3,4]\n"):
        case("json-open-" + name, text, error=(4, "begins an array.*no bracket ends"))
    case("intervals", "".join(f"[{i},{i + 1})\t{i + 5}\t1\n" for i in range(9)), [[i + 5, 1] for i in range(9)])
    case("json-words", "[0.5, 1]\nword [2, 3]\n", error=(3, "'word .2, 3' stands between the brackets"))
    # Brackets that delimiters would cut off: two numbers of each row would be lost.
    case("tuples", "".join(f"({', '.join(map(repr, r))})\n" for r in x), error=(3, "line 1.*begins a vector in brackets"))
    case("json-mixed", "".join(json.dumps([f"w{i}", *r]) + "\n" for i, r in enumerate(x)), error=(3, "line 1.*begins a vector in brackets"))
    case("word-list", "".join(f"w{i} {r}\n" for i, r in enumerate(x)), error=(3, "line 1.*begins a vector in brackets"))


def cells(x):
    """A vector in a cell, and the members of objects, a line each."""
    kinds = [("wolf", 'the "bee"', "ant, red")[i % 3] for i in range(N)]
    names = "".join(sorted({k + "\n" for k in kinds}))
    classes = [sorted(set(kinds)).index(k) for k in kinds]
    quoted = ['"' + k.replace('"', '""') + '"' for k in kinds]
    table = [f'{i * 7},{q},"{r}",{i % 5}\n' for i, (q, r) in enumerate(zip(quoted, x))]
    case("cell", "id,kind,embedding,tokens\n" + "".join(table), x, labels="kind", classes=classes, names=names)
    case("cell-named", "id,kind,embedding,tokens\n" + "".join(table),
         [[*r, i % 5] for i, r in enumerate(x)], dataset="embedding,tokens")
    case("cell-other", "id,kind,embedding,tokens\n" + "".join(table), [[i * 7] for i in range(N)], dataset="id")
    case("cell-numpy", "a,v\n" + "".join(f'{i},"[{" ".join(map(repr, r[:3]))}\n {" ".join(map(repr, r[3:]))}]"\n'
                                        for i, r in enumerate(x)), x)
    case("cell-postgres", "a;v\n" + "".join(f"{i};{{{','.join(map(repr, r))}}}\n" for i, r in enumerate(x)), x)
    case("cell-ragged", 'a,v\n1,"[1, 2, 3, 4]"\n2,"[3]"\n', error=(3, "line 3, column 2 .'v'.*as many numbers as the first"))
    case("cell-two", 'a,v,w\n1,"[1, 2, 3, 4]","[3, 1, 1, 1]"\n2,"[3, 4, 5, 6]","[4, 1, 1, 1]"\n', error=(3, "several columns: 'v', 'w'"))
    case("cell-missing", 'a,v\n1,"[1, 2, 3, 4]"\n2,\n3,null\n4,"[7,8,9,5]"\n', [[1, 2, 3, 4], [float("nan")] * 4, [float("nan")] * 4, [7, 8, 9, 5]])
    # Texts in brackets are no vectors: the numbers beside them are the rows.
    for name, text in [("year", "(1999)"), ("cite", "[1]"), ("braces", "{4}"), ("place", '"(40.7, -74.0)"'),
                       ("three", '"[1, 2, 3]"'), ("seven", '"(1,2,3,4,5,6,7)"')]:
        case("text-" + name, "name,a,b,c,d,e,f,ref\n" + "".join(f"n{i},{','.join(map(repr, r))},{text}\n" for i, r in enumerate(x)), x)
    case("vector-eight", "a,v\n" + '1,"(1,2,3,4,5,6,7,8)"\n' * 3, [[1, 2, 3, 4, 5, 6, 7, 8]] * 3)
    case("vector-narrow", "a,v\n" + 'x,"(1,2)"\n' * 3, [[1, 2]] * 3)
    case("vector-narrow-named", "a,v\n" + '1,"(1,2)"\n' * 3, [[1, 2]] * 3, dataset="v")
    case("vector-narrow-wide", "p,v\n" + '"(1,2)","[1,2,3,4]"\n' * 3, [[1, 2, 3, 4]] * 3)
    # Vectors with holes, at first or later, and those that numpy has shortened.
    case("hole-first", 'a,v\n1,"[1,,2,3]"\n2,"[1,2,3,4]"\n', error=(3, "line 2, column 2 .'v'.*no vector"))
    case("hole-later", 'a,v\n1,"[1,2,3,4]"\n2,"[1,,2,3]"\n', error=(3, "line 3, column 2 .'v'.*no vector"))
    case("hole-object", '{"id":1,"e":[0.1,null,1,2]}\n{"id":2,"e":[1,2,3,4]}\n', error=(3, "line 1, column 2 .'e'.*no vector"))
    case("hole-text", 'a,v\n1,[1] one\n2,[2] two\n', [[1], [2]])
    case("ellipsis-cell", "a,v\n1,[0.1 0.2 ... 0.4]\n", error=(3, "line 2, column 2 .'v'.*x.tolist"))
    case("ellipsis-text", "[0.1 0.2 ... 0.4]\n" * 3, error=(3, "vector 1: numpy has left numbers out"))
    case("ellipsis-rows", "[[1 2]\n [3 4]\n ...\n [5 6]]\n", error=(3, "vector 3: numpy has left numbers out"))
    case("object-follows", '{"a":1,"b":2}{"a":3,"b":4}\n', error=(3, "line 1: something follows the object"))
    case("object-commas", '{"a":1,"b":2},\n{"a":3,"b":4} \n', [[1, 2], [3, 4]])
    case("object-word", '{"a":1,"b":2}\n{"a":tree,"b":4}\n', error=(3, "line 2: a value is no value"))
    case("object-array", '{"a":1,"b":2}\n{"a":[1] 2,"b":4}\n', error=(3, "line 2: a value is no value"))
    case("object-words", '{"a":1,"b":true}\n{"a":NaN,"b":false}\n', [[1], [float("nan")]])
    objects = [{"id": i, "kind": k, "embedding": r, "more": {"a": ["]", "}"]}, "tokens": i % 5}
               for i, (k, r) in enumerate(zip(kinds, x))]
    text = "".join(json.dumps(o) + "\n" for o in objects)
    case("objects", text, x, labels="kind", classes=classes, names=names)
    turned = [dict(reversed(o.items())) if i % 2 else o for i, o in enumerate(objects)]
    case("objects-turned", "".join(json.dumps(o) + "\n" for o in turned), x, labels="kind", classes=classes, names=names)
    case("objects-named", text, [[*r, i % 5] for i, r in enumerate(x)], dataset="embedding,tokens")
    case("objects-numbers", "".join(json.dumps(dict(zip("abcdef", r))) + "\n" for r in x), x)
    case("objects-lack", '{"a": 1, "b": 2}\n{"b": 3}\n{"b": null, "a": 4, "c": 5}\n',
         [[1, 2], [float("nan"), 3], [4, float("nan")]])
    letters = ["\u00e4\n\t\"\\/", "\U0001f600 x", "\u2028", "null"]
    case("objects-escaped", "".join(json.dumps({"v": [i, 1], "k": letters[i % 3]}) + "\n" for i in range(9)),
         [[i, 1] for i in range(9)], labels="k", classes=[sorted(letters[:3]).index(letters[i % 3]) for i in range(9)],
         names="".join(k.replace("\n", " ") + "\n" for k in sorted(letters[:3])))
    case("objects-cut", '{"a": 1}\n{"a": 2\n', error=(3, "line 2: a value has no end"))
    case("objects-end", '{"a": 1}\nx\n', error=(3, "line 2: it does not begin with"))
    case("objects-absent", text, dataset="vector", error=(2, "no column 'vector'"))


def documents(x):
    """JSON documents: an array of objects, and an object of columns."""
    kinds = [("wolf", 'the "bee" {', "ant], [")[i % 3] for i in range(N)]
    names = "".join(sorted({k + "\n" for k in kinds}))
    classes = [sorted(set(kinds)).index(k) for k in kinds]
    objects = [{"id": i, "kind": k, "embedding": r, "more": {"a": ["]", "}\\"]}, "tokens": i % 5}
               for i, (k, r) in enumerate(zip(kinds, x))]
    want = dict(labels="kind", classes=classes, names=names)
    for form, how in ("plain", {}), ("dense", dict(separators=(",", ":"))), ("indent", dict(indent=2)):
        case("array-" + form, json.dumps(objects, **how), x, **want)
        columns = {key: [o[key] for o in objects] for key in objects[0]}
        case("members-" + form, json.dumps(columns, **how), x, **want)
        keyed = {key: {str(2 * i): v for i, v in enumerate(values)} for key, values in columns.items()}
        case("members-keyed-" + form, json.dumps(keyed, **how), x, **want)
    text = json.dumps(objects)
    case("array-lines", "[\r\n" + ",\r\n".join(map(json.dumps, objects)) + "\r\n]\r\n", x, **want)
    case("array-mark", "\ufeff" + text, x, **want)
    case("array-named", text, [[*r, i % 5] for i, r in enumerate(x)], dataset="embedding,tokens")
    case("array-numbers", json.dumps([dict(zip("abcdef", r)) for r in x]), x)
    case("array-lack", '[{"a": 1, "b": 2}, {"b": 3}, {"b": null, "a": 4, "c": 5}]', [[1, 2], [float("nan"), 3], [4, float("nan")]])
    case("array-long", json.dumps([{"pad": "x" * (i * 977), "v": r} for i, r in enumerate(x)] * 8), x * 8)
    case("array-ragged", json.dumps(objects[:30] + [{"embedding": [1]}]), error=(3, "object 31, column 3 .'embedding'.*as many numbers"))
    case("array-word", text.replace('"tokens": 4', '"tokens": tree'), error=(3, "object 5: a value is no value"))
    case("array-cut", text[:-9], error=(4, f"object {N}: no bracket ends the array"))
    case("array-open", text[:-1], error=(4, f"object {N + 1}: no bracket ends the array"))
    case("array-open-blank", text[:-1] + ",\n", error=(4, f"object {N + 1}: no bracket ends the array"))
    case("array-twice", text + text, error=(3, "stands before it"))
    case("array-follows", text + " x", error=(3, "something follows the array of objects"))
    case("array-comma", text.replace('}, {"id": 7', '} {"id": 7'), error=(3, "object 8: '.*' stands before it"))
    case("array-mixed", text.replace('}, {"id": 7', '}, 5, {"id": 7'), error=(3, "object 8: "))
    columns = {"a": [1, 2, None], "b": [3, 4.5, 6], "c": ["x", "y\n\u00e4", None]}
    case("members-null", json.dumps(columns), [[1, 3], [2, 4.5], [float("nan"), 6]], labels="c", classes=[0, 1, -1], names="x\ny \u00e4\n")
    case("members-vector", json.dumps({"embedding": x}), x)
    case("members-one-row", json.dumps({"embedding": x[0]}), [x[0]])
    case("objects-one-row", json.dumps({"id": 1, "spans": [{"a": 1}], "embedding": x[0]}), [x[0]])
    # Of members of which one alone is a vector of numbers the object is a row.
    case("row-tags", '{"embedding":[1,2,3,4,5],"tags":["a","b","c","d","e"]}', [[1, 2, 3, 4, 5]])
    case("row-meta", json.dumps({"meta": {"a": 1, "b": {"c": [2]}}, "embedding": x[0], "tags": ["a"]}), [x[0]])
    case("row-scalars", '{"x":1,"y":2.5,"tags":[{"k":1}]}', [[1, 2.5]])
    case("columns-vectors", json.dumps({"id": [3, 1], "embedding": x[:2]}), x[:2])
    case("columns-texts", json.dumps({"id": ["p", "q"], "embedding": x[:2]}), x[:2])
    case("columns-objects", json.dumps({"embedding": x[:2], "more": [{"a": 1}, {"a": 2}]}), x[:2])
    case("columns-mixed", '{"a":[1,{"b":2},3],"b":[4,5,6],"c":[7,8,9]}', [[4, 7], [5, 8], [6, 9]], dataset="b,c")
    case("row-array", '[{"embedding":[1,2,3,4],"ids":[1,2]}]', [[1, 2, 3, 4]], dataset="embedding")
    # Rows by name, as to_json(orient="index") writes them.
    keyed = {f"r{i}": dict(zip("abcdef", r)) for i, r in enumerate(x)}
    case("index-names", json.dumps(keyed), error=(3, "rows by name.*to_json.orient='records'"))
    case("index-numbers", json.dumps(dict(enumerate(keyed.values()))), error=(3, "rows by name.*to_json.orient='records'"))
    case("index-vectors", json.dumps(dict(enumerate(x))), error=(3, "rows by name.*to_json.orient='records'"))
    case("names-years", json.dumps({"2001": [1, 2], "2002": [3, 4]}), [[1, 3], [2, 4]])
    for form, text in ("line", '{"a":1,"b":2,"a":3}\n{"a":1,"b":2,"a":4}\n'), ("array", '[{"a":1,"b":2,"a":3}]'), ("members", '{"a":[1,2],"b":[2,3],"a":[4,5]}'):
        case("twice-" + form, text, error=(3, "has two members 'a' in one object"))
    case("twice-later", '{"a":1,"b":2}\n{"a":1,"b":2,"a":4}\n', error=(3, "line 2: it has two members of the same name"))
    case("twice-null", '{"a":1,"b":2}\n{"a":null,"b":2,"a":4}\n', error=(3, "line 2: it has two members of the same name"))
    case("comma-vector", "[[1,2,],[3,4,]]", error=(3, "vector 1: a comma is too many"))
    case("comma-vectors", "[1,2]\n[3,4, ]\n", error=(3, "vector 2: a comma is too many"))
    case("comma-members", '{"a":[1,2,],"b":[3,4]}', error=(3, "member 'a': a comma is too many"))
    case("members-short", '{"a": [1, 2], "b": [1]}', error=(3, "member 'b': has fewer elements.*read as such in an array"))
    case("members-keys", '{"a": {"0": 1, "1": 2}, "b": {"0": 1, "2": 2}}', error=(3, "member 'b': its elements have other names"))
    case("members-word", '{"a": [1, tree], "b": [1, 2]}', error=(3, "member 'a': an element is no value"))
    case("members-nested", json.dumps({"object": "list", "data": objects}), error=(3, "objects in its member 'data'.*jq -c '...data....'.*one row"))


def words(x):
    """Words and their vectors: word2vec with its counts, GloVe; any token, signs of other formats among them."""
    tokens = ["the", ",", '"', "1999", "#", "''", "a|b", ";", "[", "nan"] + [f"w{i}" for i in range(N - 10)]
    text = "".join(t + " " + " ".join(map(repr, r)) + "\n" for t, r in zip(tokens, x))
    case("glove", text, x, labels="1")
    case("glove-comma", ", 0.5 -1 2\n" + "".join(f"w{i} {i} 1 2\n" for i in range(20)), [[0.5, -1, 2]] + [[i, 1, 2] for i in range(20)])
    case("glove-year", "".join(f"{t} -0.5 {i} 2\n" for i, t in enumerate(["the", "1999", "x"])), [[-0.5, i, 2] for i in range(3)])
    case("glove-above", "".join(f"{t} 0.5 {i} 2\n" for i, t in enumerate(["the", "1999", "x"])), [[0.5, i, 2] for i in range(3)])
    case("word2vec", f"{N} {D}\n" + text, x)
    case("word2vec-blank", f"{N} {D}\n" + text.replace("\n", " \n"), x)
    case("word2vec-short", f"{N + 1} {D}\n" + text, error=(4, f"announces {N + 1} rows, but there are {N}"))


def comments(x):
    """numpy.savetxt with header and footer, sensors; #1 at the beginning of a row is no comment."""
    case("savetxt", "# a b c d e f\n" + lines(x, " "), x)
    case("savetxt-named", "# a b c d e f\n" + lines(x, " "), [[r[3], r[0]] for r in x], dataset="d,a")
    case("savetxt-comma", "# a,b,c,d,e,f\n" + lines(x), [[r[3], r[0]] for r in x], dataset="d,a")
    case("savetxt-lines", "# made today\n# by me\n" + lines(x, " ") + "# end\n", x)
    case("sensor", "# 1, 2\n# it's \"open\n\na,b,c,d,e,f\n" + lines(x[:20]) + "# pause\n" + lines(x[20:]), x)
    case("numbers-of-rows", "id,a,b\n" + "".join(f"#{i},{i},1\n" for i in range(9)), [[i, 1] for i in range(9)])
    case("savetxt-numbers", "# 0,1,2\n" + lines([r[:3] for r in x]), [r[:3] for r in x])
    case("rows-quoted", 'id,tags,x\n#1,"red\nblue",3\n#2,b,4\n#3,c,5\n', [[3], [4], [5]])
    case("rows-comment", '# made today\nid,tags,x\n#1,"red\nblue",3\n#2,b,4\n#3,c,5\n', [[3], [4], [5]])
    case("rows-short", "x,y\n" + "".join(f"#{i},{i},1\n" for i in range(9)), [[i, 1] for i in range(9)])
    case("rows-faulty", "id,x,y\n#1,1,2\n#2,3\n#3,4,5\n", error=(3, "line 3 has 2 cells; the first has 3"))
    case("rows-faulty-comment", "# made\nid,x,y\n#1,1,2\n#2,3\n#3,4,5\n", error=(3, "line 4 has 2 cells; the first has 3"))
    case("rows-blank", "# made today\nid,x,y\n# 1,2,3\n# 2,3,4\n5,1,2\n", [[2, 3], [3, 4], [1, 2]])
    case("words-comment", "#made\n#by me\n" + lines(x) + "#end\n", x)
    case("comment-quotes", '# "a" b\n1,2\n3,4\n', [[1, 2], [3, 4]])
    case("comment-headings", "# made today\nid x\n1 2\n3 4\n", [[1, 2], [3, 4]])
    case("comment-later", "# a b\n1 2\n# pause for tea\n3 4\n", [[2], [4]], dataset="b")
    case("comment-names", "# kind of it\nred big 1\nblue small 2\n", [[1], [2]], labels="kind", classes=[1, 0], names="blue\nred\n")
    case("only", "# a\n# b\n", error=(3, "no column of numbers"))


def signs(x):
    """Bars; the sign that Excel is told; a first line that holds another sign than the delimiter."""
    case("bars", "a|b|c|d|e|f\n" + lines(x, "|"), x)
    case("bars-blank", "a | b | c\n" + "".join(f"{i} | {i + 1} | 5\n" for i in range(9)), [[i, i + 1, 5] for i in range(9)])
    case("sep", "sep=;\na;b;c;d;e;f\n" + lines(x, ";"), x)
    case("sep-tab", "sep=\t\na\tb\n1\t2\n3\t4\n", [[1, 2], [3, 4]])
    case("comma-in-heading", "a (m, s)|b\n" + "".join(f"{i}|2\n" for i in range(9)), [[i, 2] for i in range(9)])
    case("bad-line", lines(x[:30]) + "1,2\n" + lines(x[30:]), error=(3, f"line 31 has 2 cells; the first has {D}"))
    case("bad-blanks", "Nr. Ort,a,b\n1 Bonn,2,3\n2 Ulm,4,5\n3 Jena,6\n4 Kiel,8,9\n",
         error=(3, "line 4 has 2 cells; the first has 3"))
    # Decimal commas, where semicolons stand between; points beside them leave what has commas a text.
    comma = lines(x, ";").replace(".", ",")
    case("comma", comma, x)
    case("comma-sep", "sep=;\na;b;c;d;e;f\n" + comma, x)
    case("comma-later", "a;b;k\n" + "".join(f"{i};{i + 1};x{i % 2}\n" for i in range(9)) + "-0,5;1,5e-3;x1\n",
         [[i, i + 1] for i in range(9)] + [[-0.5, 0.0015]], labels="k", classes=[i % 2 for i in range(9)] + [1], names="x0\nx1\n")
    case("comma-quoted", '"a";"b"\n' + "".join(f'"{i},25";"{i}"\n' for i in range(9)), [[i + 0.25, i] for i in range(9)])
    case("comma-texts", "a;b\n" + "".join(f"{i},5;1,2,3\n" for i in range(9)), [[i + 0.5] for i in range(9)])
    case("comma-and-point", "a;b\n" + "".join(f"1,{i}4;0.5\n" for i in range(9)), [[0.5]] * 9)
    case("comma-tab", "a\tb\n" + "".join(f"1,{i}34\t5\n" for i in range(9)), [[5]] * 9)
    # Commas that may all part thousands are no points; one that cannot makes points of all.
    thousands = "a;b\n995;1\n" + "".join(f"1,{i:03d};{i}\n" for i in range(0, 50, 5))
    case("comma-thousands", thousands, error=(3, "line 3, column 1 .'a'.: '1,000' is not a number: write numbers with points, and no commas"))
    case("comma-thousands-first", "a;b\n" + "".join(f"1,{i:03d};{i}\n" for i in range(9)), [[i] for i in range(9)])
    case("comma-thousands-only", "a;b\n" + "".join(f"-1,{i:03d};{i},000\n" for i in range(1, 9)),
         error=(3, "no column of numbers: 'a', 'b': numbers with commas, not read as they may be of thousands"))
    for name, cell, value in (("digits", "2,5", 2.5), ("zero", "-0,132", -0.132), ("long", "1234,567", 1234.567), ("exponent", "1,250e1", 12.5), ("bare", ",125", 0.125)):
        case("comma-" + name, thousands + f"{cell};7\n", [[995, 1]] + [[1 + i / 1000, i] for i in range(0, 50, 5)] + [[value, 7]])
    case("comma-point-later", "a;b\n" + "3,5;1\n" * 1500 + "1.500;2\n", error=(3, "line 1502, column 1 .'a'.: '1.500' is not a number, as others have commas"))
    case("comma-class", "a;k\n" + "".join(f"{i},5;{i % 2},0\n" for i in range(6)), [[i + 0.5] for i in range(6)], labels="k",
         classes=[0, 1] * 3, names="0,0\n1,0\n")
    case("comma-only-tab", "a\tb\n" + "1,5\t2,5\n" * 9,
         error=(3, "no column of numbers: 'a', 'b': numbers have commas for points: write them with points, or separate the cells by semicolons"))
    case("exponent-d", "a,b\n" + "1.5D-01,-2.5d+00\n" * 9,
         error=(3, "no column of numbers: 'a', 'b': numbers with the exponent D of Fortran: write them with E, 1.5E-01"))
    case("exponent-none", "a,b\n" + "1D2,2.5D\n" * 9, error=(3, "no column of numbers$"))
    case("geo", '!Series\t"x"\n"ID"\t"A"\t"B"\n' + '"p"\t0.5\t1.5\n' * 9 + "!end\n",
         error=(3, "no column of numbers: its first lines begin with !, as those before a table of GEO do: remove all"))
    case("comma-only-bar", "a|b\n" + "1,5|2,5\n" * 9, error=(3, "no column of numbers: 'a', 'b': numbers have commas for points"))
    case("heading-below-zero", "id,-0.5,0,0.5\n" + "".join(f"{i},1,2,{i}\n" for i in range(30)),
         [[i, 1, 2, i] for i in range(30)])
    case("heading-blanks", "id -0.5 0 0.5\n" + "".join(f"{i} 1 2 {i}\n" for i in range(30)),
         [[i, 1, 2, i] for i in range(30)])
    # Codes are classes of their own; numbers as numpy.savetxt writes them are numbers.
    case("codes-zero", "a,k\n5,01\n6,1\n7,001\n", [[5], [6], [7]], labels="k", classes=[1, 2, 0], names="001\n01\n1\n")
    case("codes-exponent", "a,k\n5,1e3\n6,1000\n7,2\n", [[5], [6], [7]], labels="k", classes=[1, 0, 2],
         names="1000\n1e3\n2\n")
    case("codes-none", "a,k\n5,1.000e+00\n6,1\n7,2.0\n", [[5], [6], [7]], labels="k", classes=[1, 1, 2])
    sentences = ["good movie", "bad", "good movie", "it was 5 of 9"]
    case("sentences", "review text\n" + "".join(s + "\n" for s in sentences), error=(3, "no column of numbers"))


def make():
    draw = random.Random(7)
    x = [[round(draw.gauss(0, 1), 4) for _ in range(D)] for _ in range(N)]
    for part in brackets, cells, documents, words, comments, signs:
        part(x)
    open("cases.txt", "w").write("\n".join(cases) + "\n")
    pickle.dump(expected, open("expected.pickle", "wb"))


def numbers(path, kind):
    values = array(kind)
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values.tolist()


def check_case(name, wish):
    said = open(name + ".said").read().split(None, 4)
    code, message = int(said[0]), said[4].strip() if len(said) > 4 else ""
    if wish["error"]:
        right = code == wish["error"][0] and re.search(wish["error"][1], message)
        return None if right else f"{code}: {message}, not {wish['error']}"
    if code != 0:
        return f"{code}: {message}"
    shape = (int(said[2]), int(said[3]))
    if shape != (len(wish["rows"]), len(wish["rows"][0])):
        return f"{shape}, not {len(wish['rows'])} rows of {len(wish['rows'][0])}"
    wanted = [float(v) for row in wish["rows"] for v in row]
    read = numbers(name + ".rows", "d")
    if any(a != b and not (a != a and b != b) for a, b in zip(read, wanted)):
        return "other rows"
    if wish["classes"] is not None:
        if numbers(name + ".labels", "q") != wish["classes"]:
            return "other labels"
        names = open(name + ".names", encoding="utf-8", newline="").read() if os.path.exists(name + ".names") else None
        if names != wish["names"]:
            return f"names {names!r}, not {wish['names']!r}"
    return None


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(check_case))
