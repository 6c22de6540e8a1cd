"""Parses the types of LuaCATS annotations, to find invalid ones and the names that they use."""
import re

BUILT_IN = {
    "any", "nil", "boolean", "string", "number", "integer", "table", "function", "thread", "userdata", "lightuserdata", "true",
    "false", "T", "self",
}
TOKEN = re.compile(r'\s*(?:("[^"]*")|(\.\.\.)|([A-Za-z_][\w.]*[A-Za-z0-9_]|[A-Za-z_])|(\[\])|([{}()\[\]<>:,|?]))')


class Reader:
    """Parses one type."""

    def __init__(self, text):
        self.text, self.names, self.tokens, at = text, set(), [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"'{text}' cannot be read from '{text[at:]}' on")
            self.tokens.append(match.group().strip())
            at = match.end()

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, wanted=None):
        if not self.tokens or (wanted and self.tokens[0] != wanted):
            raise ValueError(f"'{self.text}': expected {wanted or 'a type'} before '{' '.join(self.tokens)}'")
        return self.tokens.pop(0)

    def type(self):
        self.postfixed()
        while self.peek() == "|":
            self.take()
            self.postfixed()

    def postfixed(self):
        self.single()
        while self.peek() in ("[]", "?"):
            self.take()

    def single(self):
        token = self.take()
        if token == "(":
            self.type()
            self.take(")")
        elif token == "{":
            self.members()
        elif token == "fun":
            self.function()
        elif token.startswith('"'):
            pass
        elif re.match(r"[A-Za-z_]", token):
            self.names.add(token)
            if self.peek() == "<":
                self.take()
                self.listed(">")
        else:
            raise ValueError(f"'{self.text}': '{token}' is no type")

    def listed(self, end):
        self.type()
        while self.peek() == ",":
            self.take()
            self.type()
        self.take(end)

    def members(self):
        while True:
            self.take()
            self.take(":")
            self.type()
            if self.peek() != ",":
                break
            self.take()
        self.take("}")

    def function(self):
        self.take("(")
        while self.peek() != ")":
            self.take()
            if self.peek() == ":":
                self.take()
                self.type()
            if self.peek() == ",":
                self.take()
        self.take(")")
        if self.peek() == ":":
            self.take()
            self.type()
            while self.peek() == ",":
                self.take()
                self.type()


def names(text):
    """Returns the names that a type uses. Raises ValueError if the type is invalid."""
    reader = Reader(text)
    reader.type()
    if reader.tokens:
        raise ValueError(f"'{text}' goes on behind its end: '{' '.join(reader.tokens)}'")
    return reader.names
