import type { PartReader } from '#server/symbols/index-file/built-index.ts'
import { findClasses, findPart, findRows, rowAt, rowRangeAt, type ClassEntry } from './index-layout.ts'

/** Identifiers joined by dots or slashes, as names of classes and their members are written in messages. */
const NAME = /(?<![\p{L}\p{N}_$./])[\p{L}_$][\p{L}\p{N}_$]*(?:[./][\p{L}_$<][\p{L}\p{N}_$>]*)*/gu
/** Longer texts are read up to here. */
const MAX_TEXT = 64 * 1024
const MAX_NAMES = 1000
/** Rows of one name that are compared: overloads of a member. */
const MAX_ROWS = 1000

/** A name in a text. */
export type TextName = {
  readonly from: number
  readonly text: string
  /** The character behind it. */
  readonly after: string
  /** The class names that it may begin with, longest first. */
  readonly classes: readonly string[]
}

/**
 * Replaces obfuscated names in the value of an exception, in a line such as `Caused by: a.b: message` or in the type of
 * an exception: classes, and methods and fields behind a class (`a.b.c()`). A name without a package, such as `a`, could
 * be a word: it is replaced only where messages of the runtime name classes.
 * @param originalOf the name in the source, as {@link originalName} finds it; null leaves it
 */
export function retraceText(text: string, originalOf: (name: TextName) => string | null): string {
  let result = ''
  let end = 0
  for (const name of namesInText(text)) {
    const original = originalOf(name)
    if (original === null) continue
    result += text.slice(end, name.from) + original
    end = name.from + name.text.length
  }
  return result + text.slice(end)
}

/** @returns the names in a text that may be obfuscated */
export function namesInText(text: string): TextName[] {
  const names: TextName[] = []
  for (const { 0: match, index } of text.slice(0, MAX_TEXT).matchAll(NAME)) {
    // `La/b;` and `[La.b;` are descriptors of the class a.b.
    const isDescriptor = match.startsWith('L') && match.length > 1 && text[index + match.length] === ';'
    const from = isDescriptor ? index + 1 : index
    const name = isDescriptor ? match.slice(1) : match
    if (!/[./]/u.test(name) && !isDescriptor && !isClassPlace(text, from, from + name.length)) continue
    names.push({ from, text: name, after: text[from + name.length] ?? '', classes: classesOf(name) })
    if (names.length >= MAX_NAMES) break
  }
  return names
}

/** `a.b.c` may be a class, a member of `a.b`, or a member of a member of `a`. */
function classesOf(name: string): string[] {
  const dotted = name.replaceAll('/', '.')
  const classes = [dotted]
  let dot = dotted.lastIndexOf('.')
  for (let members = 0; dot > 0 && members < 2; members += 1) {
    classes.push(dotted.slice(0, dot))
    dot = dotted.lastIndexOf('.', dot - 1)
  }
  return classes
}

/** Whether a name without a package is where Java and Android write a class. */
function isClassPlace(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 40), from)
  const after = text.slice(to, to + 40)
  return (
    (from === 0 && (after === '' || after.startsWith(': '))) ||
    /(?:^|\s)(?:class|interface|Caused by:|Suppressed:|cannot be cast to|instance of|subtype of) $/u.test(before) ||
    /^(?: cannot be cast to |@[0-9a-f]+\b)/u.test(after)
  )
}

/**
 * Finds the original of a name, in the parts of its classes.
 * @returns null if the mapping does not have it
 */
export function originalName(directory: Buffer, part: PartReader, name: Omit<TextName, 'from'>): string | null {
  for (const className of name.classes) {
    const number = findPart(directory, className)
    const bytes = number === null ? null : part(number)
    const [entry] = bytes ? findClasses(bytes, className) : []
    if (!bytes || !entry) continue
    const [member, ...rest] = name.text.slice(className.length + 1).split('.')
    const original = name.text.includes('/') ? entry.original.replaceAll('.', '/') : entry.original
    if (member === undefined || member === '') return original
    // `e.g` is a member of the class `e` only where a message quotes it or has its arguments behind it.
    if (!className.includes('.') && (rest.length > 0 || !/["'(]/u.test(name.after))) continue
    const isCalled = rest.length === 0 && name.after === '('
    return [original, originalMember(bytes, entry, member, isCalled) ?? member, ...rest].join('.')
  }
  return null
}

/** @returns the original name of a member, null if its overloads had several */
function originalMember(part: Buffer, entry: ClassEntry, obfuscated: string, isMethod: boolean): string | null {
  const rows = findRows(part, entry, obfuscated)
  if (!rows) return null
  const names = new Set<string>()
  for (let row = rows.from; row < Math.min(rows.to, rows.from + MAX_ROWS); row += 1) {
    if (rowRangeAt(part, row).isField === isMethod) continue
    const { name, className } = rowAt(part, row).member
    if (className === '') names.add(name)
  }
  const [name] = names
  return names.size === 1 && name !== undefined ? name : null
}
