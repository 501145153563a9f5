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
  let previous: string | null = null
  for (let index = 0; index < members.count; index += 1) {
    const position = members.at(index)
    const line = parseMemberLine(mapping.text(position))
    if (!line) continue
    if (line.obfuscated !== previous) writer.addMember(line.obfuscated)
    previous = line.obfuscated
    let facts: MemberFacts = {}
    for (const comment of mapping.commentsBelow(position)) facts = addMemberFact(facts, comment)
    writer.addRow({
      minifiedFrom: line.minified?.from ?? null,
      minifiedTo: line.minified?.to ?? null,
      originalFrom: line.original?.from ?? null,
      originalTo: line.original?.to ?? null,
      member: originalMember(line, mapping),
      facts: Object.keys(facts).length === 0 ? null : JSON.stringify(facts),
    })
  }
}

function originalMember({ isField, name, className }: MemberLine, mapping: MappingFile): OriginalMember {
  const file = className === null ? null : mapping.sourceFileOfOriginal(className)
  return { isField, name, className: className ?? '', file: file ?? '' }
}
