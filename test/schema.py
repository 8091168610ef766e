#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# schema.py FILE...: whether each file NUMBER.KIND.json, one document of --json, is what
# doc/hugefill.schema.json says of that kind, and of no other. What is wrong goes to standard output.
import json
import os
import sys

from jsonschema import Draft7Validator

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = "#/definitions/"


def main(files):
    with open(os.path.join(HERE, "..", "doc", "hugefill.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    Draft7Validator.check_schema(schema)
    kinds = [one["$ref"][len(PREFIX):] for one in schema["oneOf"]]

    def validator(kind):
        return Draft7Validator({"$ref": PREFIX + kind, "definitions": schema["definitions"]})

    validators = {kind: validator(kind) for kind in kinds}
    wrong = 0
    for name in files:
        kind = name.split(".")[-2]
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
        for error in validators[kind].iter_errors(document):
            where = ".".join(str(part) for part in error.absolute_path)
            print(f"{os.path.basename(name)}: {where}: {error.message}")
            wrong += 1
        others = [other for other in kinds if other != kind and validators[other].is_valid(document)]
        if others:
            print(f"{os.path.basename(name)}: is also {' '.join(others)}")
            wrong += 1
    return 1 if wrong or not files else 0


sys.exit(main(sys.argv[1:]))
