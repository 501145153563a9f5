import { SymbolFileError, type PositionedFile } from '../index-file/built-index.ts'
import { MAX_NAME_BYTES } from './cursor.ts'
import { FunctionDraft } from './function-draft.ts'
import type { IndexWriter } from './index-writer.ts'
import { InlineTree } from './inline-tree.ts'
import { SymbolCollector, uuidText, type NativeObject, type SymbolTable } from './native-object.ts'

/**
 * Breakpad's text format of symbols (Breakpad's documentation, "Symbol Files"): a line is a record, its fields separated by
 * spaces, numbers hexadecimal except of lines and files.
 */
const BLOCK_BYTES = 1024 * 1024
const MAX_LINE_BYTES = 256 * 1024
const MAX_INLINE_DEPTH = 200

/** @throws SymbolFileError when a line is too long to be a record */
function* linesOf(file: PositionedFile, until = file.sizeBytes): Generator<string> {
  let rest = Buffer.alloc(0)
  for (let position = 0; position < until;) {
    const block = file.read(position, Math.min(BLOCK_BYTES, until - position))
    if (block.length === 0) break
    position += block.length
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block])
    let at = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, at)) {
      yield bytes.toString('utf8', at, bytes[end - 1] === 13 ? end - 1 : end)
      at = end + 1
    }
    rest = Buffer.from(bytes.subarray(at))
    if (rest.length > MAX_LINE_BYTES) throw new SymbolFileError('A line of the Breakpad file is too long.')
  }
  if (rest.length > 0) yield rest.toString('utf8')
}

export function isBreakpad(file: PositionedFile): boolean {
  return file.sizeBytes >= 7 && file.read(0, 7).toString('latin1') === 'MODULE '
}

/** Names of processors in MODULE lines, where they are others. */
const CPU_NAMES = new Map([
  ['arm', 'armv7'],
  ['amd64', 'x86_64'],
])

const HEAD_BYTES = 64 * 1024
const SAMPLES = 16

/**
 * Reads the first lines: `MODULE operatingsystem architecture id name` and `INFO CODE_ID id name`. Which other records there
 * are is looked up in samples: a file may have hundreds of megabytes, and this must not take long.
 */
export function readBreakpad(file: PositionedFile): NativeObject {
  let match: RegExpExecArray | null = null
  let codeId: string | null = null
  for (const line of linesOf(file, Math.min(HEAD_BYTES, file.sizeBytes))) {
    match ??= /^MODULE \S+ ([\w.-]{1,32}) ([0-9A-Fa-f]{32})([0-9A-Fa-f]{0,8})(?: (.*))?$/.exec(line)
    if (match === null) break
    codeId ??= /^INFO CODE_ID ([0-9A-Fa-f]{1,128})/.exec(line)?.[1]?.toLowerCase() ?? null
  }
  if (match === null) throw new SymbolFileError('The first line of the Breakpad file is no MODULE record.')
  const [, cpu = '', id = '', age = '', name = ''] = match
  const uuid = uuidText(Buffer.from(id, 'hex'))
  const samples = Array.from({ length: SAMPLES }, (_, n) =>
    file.read(Math.floor((n * Math.max(0, file.sizeBytes - HEAD_BYTES)) / (SAMPLES - 1)), HEAD_BYTES),
  )
  const has = (record: string): boolean => samples.some((sample) => sample.includes(`\n${record} `))
  return {
    kind: 'breakpad',
    debugId: Number.parseInt(age || '0', 16) === 0 ? uuid : `${uuid}-${age.toLowerCase()}`,
    codeId,
    cpuName: CPU_NAMES.get(cpu) ?? cpu,
    features: { symtab: true, debug: has('FUNC'), unwind: has('STACK'), sources: false },
    name: name || null,
    offset: 0,
    size: file.sizeBytes,
  }
}

type Row = { readonly start: number; readonly end: number; readonly line: number; readonly file: string }
type Function = {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly rows: Row[]
  readonly tree: InlineTree
  /** The last inlined call of each depth. */
  readonly nodes: number[]
}

/** Adds all FUNC records to the index, and returns the PUBLIC ones. */
export function addBreakpad(file: PositionedFile, writer: IndexWriter): SymbolTable {
  const files = new Map<string, number>()
  const origins = new Map<string, number>()
  const symbols = new SymbolCollector()
  const names: string[] = []
  const draft = new FunctionDraft()
  const nameOf = (text: string | undefined): number => writer.text((text ?? '').slice(0, MAX_NAME_BYTES))
  let current: Function | undefined

  const finish = (): void => {
    if (current === undefined) return
    const { start, end, tree, rows } = current
    draft.begin(start, nameOf(current.name))
    for (let node = 1; node < tree.parents.length; node++) {
      draft.parents.push(tree.parents[node] ?? 0)
      draft.names.push(tree.origins[node] ?? 0)
      draft.callFiles.push(tree.callFiles[node] ?? 0)
      draft.callLines.push(tree.callLines[node] ?? 0)
    }
    rows.sort((a, b) => a.start - b.start)
    const changes = tree.changes()
    const points = new Set<number>([start])
    for (const row of rows) points.add(row.start).add(row.end)
    for (const { address } of changes) points.add(address)
    let [row, change] = [0, 0]
    for (const point of [...points].filter((at) => at >= start && at < end).sort((a, b) => a - b)) {
      while (row < rows.length && (rows[row]?.end ?? 0) <= point) row++
      while ((changes[change + 1]?.address ?? Infinity) <= point) change++
      const own = rows[row]
      const hasLine = own !== undefined && own.start <= point
      const node = Math.max(0, changes[change]?.node ?? 0)
      draft.row(point, node, hasLine ? (files.get(own.file) ?? 0) : 0, hasLine ? own.line : 0)
    }
    draft.end = end
    writer.add(draft)
    current = undefined
  }

  for (const line of linesOf(file)) {
    const fields = line.split(' ')
    const [kind = ''] = fields
    if (kind === 'FUNC' || kind === 'PUBLIC') {
      finish()
      // `m` marks that several symbols share the address.
      if (fields[1] === 'm') fields.splice(1, 1)
      const start = hex(fields[1])
      if (!Number.isSafeInteger(start)) continue
      if (kind === 'PUBLIC') {
        symbols.add(start, 0, names.push(fields.slice(3).join(' ').slice(0, MAX_NAME_BYTES)) - 1)
        continue
      }
      const end = start + hex(fields[2])
      if (!Number.isSafeInteger(end)) continue
      const tree = new InlineTree(0, start, [{ start, end }])
      current = { start, end, name: fields.slice(4).join(' '), rows: [], tree, nodes: [0] }
    } else if (kind === 'FILE') files.set(fields[1] ?? '', nameOf(fields.slice(2).join(' ')))
    else if (kind === 'INLINE_ORIGIN') origins.set(fields[1] ?? '', nameOf(fields.slice(2).join(' ')))
    else if (kind === 'INLINE' && current !== undefined) addInline(current, fields, files, origins)
    else if (kind === 'STACK' || kind === 'INFO' || kind === 'MODULE') finish()
    else if (current !== undefined && /^[0-9a-fA-F]+$/.test(kind)) {
      const start = hex(kind)
      const end = start + hex(fields[1])
      const number = Number(fields[2])
      const valid = Number.isSafeInteger(end) && Number.isSafeInteger(number) && number >= 0
      if (valid) current.rows.push({ start, end, line: number, file: fields[3] ?? '' })
    }
  }
  finish()
  return symbols.sorted((at) => names[at] ?? '')
}

/** `INLINE depth callLine callFile origin (address size)+`: depth 0 is a call in the function itself. */
function addInline(
  { tree, nodes }: Function,
  fields: readonly string[],
  files: ReadonlyMap<string, number>,
  origins: ReadonlyMap<string, number>,
): void {
  const [depth, callLine] = [Number(fields[1]), Number(fields[2])]
  const parent = depth < MAX_INLINE_DEPTH ? nodes[depth] : undefined
  if (parent === undefined || !Number.isSafeInteger(callLine) || callLine < 0) return
  const ranges = []
  for (let at = 5; at + 1 < fields.length; at += 2) {
    const start = hex(fields[at])
    const end = start + hex(fields[at + 1])
    if (Number.isSafeInteger(end) && end > start) ranges.push({ start, end })
  }
  const node = tree.add(parent, origins.get(fields[4] ?? '') ?? 0, files.get(fields[3] ?? '') ?? 0, callLine, ranges)
  nodes.length = depth + 1
  nodes.push(node)
}

const hex = (text: string | undefined): number =>
  text !== undefined && /^[0-9a-fA-F]{1,16}$/.test(text) ? Number.parseInt(text, 16) : NaN
