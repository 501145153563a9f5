"""Reads from standard input addresses by the path of a debug file, and prints the calls at each: name, file and line."""
import json
import sys

from symbolic.debuginfo import Archive

answers = {}
for path, addresses in json.load(sys.stdin).items():
    cache = next(Archive.open(path).iter_objects()).make_symcache()
    answers[path] = [[[one.symbol, one.full_path or "", one.line] for one in cache.lookup(address)] for address in addresses]
json.dump(answers, sys.stdout)
