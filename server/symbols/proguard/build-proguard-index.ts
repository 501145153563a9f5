import { PART_BYTES, type BuiltIndex } from '#server/symbols/index-file/built-index.ts'
import { PartWriter, writeDirectory, type OriginalMember } from './index-layout.ts'
import { MappingFile } from './mapping-file.ts'
import { addMemberFact, parseMemberLine, type MemberFacts, type MemberLine } from './mapping-lines.ts'

/**
 * Builds the index of a mapping of ProGuard or R8 for `retraceFrame` and its siblings. Lines that have no known form are
 * skipped. Besides file and index it needs 20 to 30 bytes of memory for each class.
 *
 * @throws {SymbolFileError} if the file is not a mapping
 */
export function buildProguardIndex(file: Buffer): BuiltIndex {
  const mapping = new MappingFile(file)
  const parts: Buffer[] = []
  const firstNames: string[] = []
  let writer = new PartWriter()
  let previous: string | null = null
  for (const number of mapping.sortedClasses()) {
    const { original, obfuscated } = mapping.classNames(number)
    // Classes of one name stay in one part, so that one look-up finds them all.
    if (writer.sizeBytes >= PART_BYTES && obfuscated !== previous) {
      parts.push(writer.content())
      writer = new PartWriter()
      previous = null
    }
    if (previous === null) firstNames.push(obfuscated)
    previous = obfuscated
    writer.addClass(obfuscated, original, mapping.sourceFileOf(number))
    writeMembers(writer, mapping, number)
  }
  parts.push(writer.content())
  return { directory: writeDirectory(firstNames), parts }
}

function writeMembers(writer: PartWriter, mapping: MappingFile, classNumber: number): void {
  const members = mapping.membersOf(classNumber)
  let rows: RowsOfName | null = null
  for (let index = 0; index < members.count; index += 1) {
    const position = members.at(index)
    const line = parseMemberLine(mapping.text(position))
    if (!line) continue
    if (rows?.obfuscated !== line.obfuscated) {
      rows?.end()
      rows = new RowsOfName(writer, line.obfuscated)
    }
    let facts: MemberFacts = {}
    for (const comment of mapping.commentsBelow(position)) facts = addMemberFact(facts, comment)
    rows.add(line, originalMember(line, mapping), facts)
  }
  rows?.end()
}

/**
 * Writes the rows of one obfuscated name. R8 says only at the first range of a method that the method is synthesized or an
 * outline; the index says it at every range, at the last row of its chain.
 */
class RowsOfName {
  private readonly writer: PartWriter
  readonly obfuscated: string
  private last: { readonly line: MemberLine; readonly member: OriginalMember; readonly facts: MemberFacts } | null =
    null
  /** Facts of the chain that the last row belongs to. */
  private chainFacts: MemberFacts = {}
  private readonly factsOfMethods = new Map<string, MemberFacts>()

  constructor(writer: PartWriter, obfuscated: string) {
    this.writer = writer
    this.obfuscated = obfuscated
    writer.addMember(obfuscated)
  }

  add(line: MemberLine, member: OriginalMember, facts: MemberFacts): void {
    const { minified } = this.last?.line ?? {}
    const isSameChain = minified && line.minified?.from === minified.from && line.minified.to === minified.to
    if (isSameChain) this.writeLast({})
    else this.end()
    this.last = { line, member, facts }
    this.chainFacts = { ...this.chainFacts, ...methodFacts(facts) }
  }

  /** Writes the last row, which is the outermost of its chain. */
  end(): void {
    if (!this.last) return
    const { signature } = this.last.line
    const facts = { ...this.factsOfMethods.get(signature), ...this.chainFacts }
    if (Object.keys(facts).length > 0) this.factsOfMethods.set(signature, facts)
    this.writeLast(facts)
    this.chainFacts = {}
  }

  private writeLast(factsOfChain: MemberFacts): void {
    if (!this.last) return
    const { line, member } = this.last
    const facts = { ...this.last.facts, ...factsOfChain }
    this.writer.addRow({
      minifiedFrom: line.minified?.from ?? null,
      minifiedTo: line.minified?.to ?? null,
      originalFrom: line.original?.from ?? null,
      originalTo: line.original?.to ?? null,
      member,
      facts: Object.keys(facts).length === 0 ? null : JSON.stringify(facts),
    })
  }
}

function methodFacts({ synthesized, outline }: MemberFacts): MemberFacts {
  return { ...(synthesized && { synthesized }), ...(outline && { outline }) }
}

function originalMember({ isField, name, className }: MemberLine, mapping: MappingFile): OriginalMember {
  const file = className === null ? null : mapping.sourceFileOfOriginal(className)
  return { isField, name, className: className ?? '', file: file ?? '' }
}
