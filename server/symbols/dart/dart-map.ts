import { z } from 'zod'
import { type BuiltIndex, type PartReader, SymbolFileError } from '../index-file/built-index.ts'

/**
 * The obfuscation map of Dart (`--save-obfuscation-map` of gen_snapshot): a JSON array of names in pairs, first the name of
 * the source, then the one of the compiled app. Types of exceptions have only the latter (docs.flutter.dev, "Obfuscate Dart
 * code"). An index has parts of records in the order of the compiled names, and a directory with the first name of each.
 */

/** Small, because one name is looked up in a part at a time. */
const PART_BYTES = 16 * 1024
/** Longer names are left out. */
const MAX_NAME = 1_000
const UNUSABLE = /[\n\t]/u

const Names = z.array(z.string())

/** Whether a file begins as a map does, and a debug file never. */
export const looksLikeDartMap = (head: Buffer): boolean =>
  /^(?:\u00ef\u00bb\u00bf)?\s*\[/u.test(head.toString('latin1'))

/** @throws SymbolFileError when the file is no map */
export function buildDartMapIndex(file: Buffer): BuiltIndex {
  const names = readNames(file)
  const pairs: (readonly [compiled: string, source: string])[] = []
  for (let n = 0; n + 1 < names.length; n += 2) {
    const [source = '', compiled = ''] = names.slice(n, n + 2)
    const isUsable = compiled !== '' && compiled !== source && compiled.length <= MAX_NAME && source.length <= MAX_NAME
    if (isUsable && !UNUSABLE.test(compiled) && !UNUSABLE.test(source)) pairs.push([compiled, source])
  }
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const firsts: string[] = []
  const parts: string[] = []
  for (const [compiled, source] of pairs) {
    const last = parts.length - 1
    const record = `${compiled}\t${source}\n`
    if (last >= 0 && (parts[last]?.length ?? 0) + record.length <= PART_BYTES) parts[last] += record
    else {
      firsts.push(compiled)
      parts.push(`\n${record}`)
    }
  }
  return { directory: Buffer.from(firsts.join('\n')), parts: parts.map((part) => Buffer.from(part)) }
}

function readNames(file: Buffer): readonly string[] {
  let value: unknown
  try {
    value = JSON.parse(file.toString().replace(/^\ufeff/u, ''))
  } catch {
    throw new SymbolFileError('The file is no obfuscation map of Dart: it is not JSON.')
  }
  const parsed = Names.safeParse(value)
  if (!parsed.success) throw new SymbolFileError('The file is no obfuscation map of Dart: it is not a list of names.')
  if (parsed.data.length % 2 !== 0)
    throw new SymbolFileError('The obfuscation map has an odd number of names: each needs the name of the source.')
  return parsed.data
}

/** An identifier of Dart. */
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*/gu
/** Types stand in quotes in messages of the runtime: `Instance of 'aB'`, `type 'aB' is not a subtype of type 'c<d>'`. */
const QUOTED_TYPE = /(?<=\b(?:[Ii]nstance of|type|class|method|getter|setter) ')[^'\n]{1,1000}(?=')/gu

/** The names in a type, such as `aB<c>`. */
export const namesInType = (type: string): string[] => type.match(IDENTIFIER) ?? []

/** The names in types that a message quotes. */
export const namesInMessage = (message: string): string[] => (message.match(QUOTED_TYPE) ?? []).flatMap(namesInType)

/** The part with each name. */
export function dartMapParts(directory: Buffer, names: readonly string[]): number[] {
  if (directory.length === 0) return []
  const firsts = directory.toString().split('\n')
  return names.flatMap((name) => {
    const part = partOf(firsts, name)
    return part < 0 ? [] : [part]
  })
}

/** The last part whose first name is not behind the name; -1 when there is none. */
function partOf(firsts: readonly string[], name: string): number {
  let [from, to] = [0, firsts.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((firsts[middle] ?? '') <= name) from = middle + 1
    else to = middle
  }
  return from - 1
}

/** A type with the names of the source. */
export const readableType = (directory: Buffer, part: PartReader, type: string): string =>
  type.replace(IDENTIFIER, (name) => sourceName(directory, part, name) ?? name)

/** A message with the names of the source in the types that it quotes. */
export const readableMessage = (directory: Buffer, part: PartReader, message: string): string =>
  message.replace(QUOTED_TYPE, (type) => readableType(directory, part, type))

function sourceName(directory: Buffer, part: PartReader, name: string): string | null {
  const [place] = dartMapParts(directory, [name])
  if (place === undefined) return null
  const records = part(place)
  const found = records.indexOf(`\n${name}\t`)
  if (found < 0) return null
  const from = found + Buffer.byteLength(name) + 2
  return records.toString('utf8', from, records.indexOf('\n', from))
}
