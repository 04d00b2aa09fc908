# SPDX-License-Identifier: Apache-2.0
#
# The constant pool of a Java class: its strings, and those that it uses as names of system properties.

import dataclasses
import struct
import zipfile

TEXT, LONG, DOUBLE, CLASS, STRING, METHOD = 1, 5, 6, 7, 8, 10
# Bytes behind the tag of a constant.
_SIZES = {3: 4, 4: 4, LONG: 8, DOUBLE: 8, CLASS: 2, STRING: 2, 9: 4, METHOD: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4,
          18: 4, 19: 2, 20: 2}
LDC, LDC_WIDE, INVOKE_STATIC = 0x12, 0x13, 0xB8
# Between the load of the name and the call there is at most a default value.
LOOK_BACK_BYTES = 12
PROPERTY_READERS = {("java/lang/System", "getProperty"), ("java/lang/Integer", "getInteger"),
                    ("java/lang/Long", "getLong"), ("java/lang/Boolean", "getBoolean")}


@dataclasses.dataclass
class ClassFile:
    constants: dict  # index to (tag, text or bytes)
    code: bytes      # everything behind the constants

    def text_at(self, index):
        return self.constants[index][1]

    def string_at(self, index):
        tag, content = self.constants.get(index, (None, None))
        return self.text_at(struct.unpack(">H", content)[0]) if tag == STRING else None

    def strings(self):
        return {self.string_at(index) for index, (tag, _) in self.constants.items() if tag == STRING}

    def _method_at(self, index):
        holder, signature = struct.unpack(">HH", self.constants[index][1])
        holder_name = struct.unpack(">H", self.constants[holder][1])[0]
        name, _ = struct.unpack(">HH", self.constants[signature][1])
        return self.text_at(holder_name), self.text_at(name)

    def properties(self):
        """Strings that stand right before a call that reads a system property. Some may be default values."""
        readers = {index for index, (tag, _) in self.constants.items()
                   if tag == METHOD and self._method_at(index) in PROPERTY_READERS}
        found = set()
        for at in range(len(self.code) - 2):
            is_call = self.code[at] == INVOKE_STATIC
            if not is_call or struct.unpack_from(">H", self.code, at + 1)[0] not in readers:
                continue
            for load in range(max(0, at - LOOK_BACK_BYTES), at):
                index = None
                if self.code[load] == LDC:
                    index = self.code[load + 1]
                elif self.code[load] == LDC_WIDE:
                    index = struct.unpack_from(">H", self.code, load + 1)[0]
                found.add(self.string_at(index))
        return found - {None}


def read_class(data):
    magic, _, _, count = struct.unpack_from(">IHHH", data)
    if magic != 0xCAFEBABE:
        raise ValueError("not a class file")
    at, index, constants = 10, 1, {}
    while index < count:
        tag = data[at]
        at += 1
        if tag == TEXT:
            size = struct.unpack_from(">H", data, at)[0]
            at += 2
            constants[index] = (tag, data[at:at + size].decode("utf-8", "replace"))
        else:
            size = _SIZES[tag]
            constants[index] = (tag, data[at:at + size])
        at += size
        index += 2 if tag in (LONG, DOUBLE) else 1
    return ClassFile(constants, data[at:])


def classes_of_jar(path):
    """Class name, with slashes, to its ClassFile."""
    with zipfile.ZipFile(path) as jar:
        return {name.removesuffix(".class"): read_class(jar.read(name))
                for name in jar.namelist() if name.endswith(".class")}
