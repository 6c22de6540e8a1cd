"""Colours for code: comments, strings, numbers and the words of the language."""
import html as escaping
import re

WORDS = {
    "lua": "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
    "c": "break case char const continue default do double else enum extern for if include int int64_t return size_t sizeof static "
         "struct switch typedef unsigned void while NULL",
    "swift": "actor any as async await case class defer do else enum extension false for func guard if import in init let nil private "
             "public return self some static struct switch throw throws true try var while",
    "python": "and as async await class def elif else except False finally for from if import in is lambda None not or pass raise "
              "return True try while with yield",
    "sh": "case do done elif else esac export fi for function if in local return then until while",
    "sql": "AND AS AUTOINCREMENT BY CREATE DEFAULT FROM GROUP INDEX INTEGER KEY LIKE NOT NULL ON ORDER PRIMARY REAL ROWID SELECT TABLE "
           "TEXT USING VIRTUAL WHERE WITHOUT",
    "json": "false null true",
    "cmake": "",
}
COMMENTS = {
    "lua": r"--\[\[.*?\]\]|--[^\n]*", "c": r"/\*.*?\*/|//[^\n]*", "swift": r"//[^\n]*", "python": r"#[^\n]*",
    "sh": r"(?:^|(?<=\s))#[^\n]*", "sql": r"--[^\n]*", "cmake": r"#[^\n]*",
}
STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
STRINGS = {"python": r'""".*?"""|' + STRING, "sh": r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', "swift": r'"""\n.*?"""|"(?:[^"\\\n]|\\.)*"'}


def html(text, language):
    """Returns code as HTML, with spans around coloured parts."""
    if language not in WORDS:
        return escaping.escape(text, quote=False)
    words = "|".join(WORDS[language].split())
    kinds = [("c", COMMENTS.get(language)), ("s", STRINGS.get(language, STRING)), ("w", rf"\b(?:{words})\b" if words else None),
             ("n", r"\b\d[\d_.]*\b")]
    pattern = re.compile("|".join(f"(?P<{name}>{one})" for name, one in kinds if one), re.S | re.M)
    parts, end = [], 0
    for found in pattern.finditer(text):
        parts.append(escaping.escape(text[end:found.start()], quote=False))
        parts.append(f'<span class="{found.lastgroup}">{escaping.escape(found[0], quote=False)}</span>')
        end = found.end()
    return "".join(parts) + escaping.escape(text[end:], quote=False)
