import { SymbolFileError, type BuiltIndex } from '../index-file/built-index.ts'
import { ContentPartWriter } from './content-parts.ts'
import { decodeMappings, MAX_POSITION, NONE } from './decode-mappings.ts'
import { writeDirectory, type PartStart } from './directory.ts'
import { LineOfSegments } from './line-of-segments.ts'
import { readFunctions } from './read-functions.ts'
import { readSourceMap, type SourceMapSection } from './read-source-map.ts'
import { SegmentPartWriter, type Segment } from './segment-parts.ts'

/**
 * Builds the index of a source map: JSON of at most 64 MiB, plain or with sections (ECMA-426), also those of Metro and
 * Hermes. Parts with segments come first, parts with the contents of sources follow.
 * @throws SymbolFileError when the file cannot be used
 */
export function buildSourceMapIndex(file: Buffer): BuiltIndex {
  const { json, sections } = readSourceMap(file)
  const sources = sections.flatMap((section) => section.sources)
  const names = sections.flatMap((section) => section.names)
  const functions = readFunctions(json, sources)
  const parts: Buffer[] = []
  const segmentStarts: PartStart[] = []
  const contentStarts: PartStart[] = []

  const writer = new SegmentPartWriter(
    (index) => {
      const source = sources[index]
      return {
        name: source?.name ?? '',
        isIgnored: source?.isIgnored ?? false,
        hasContent: (source?.content ?? null) !== null,
      }
    },
    (part, major, minor) => {
      parts.push(part)
      segmentStarts.push({ major, minor })
    },
  )
  const used = new Uint8Array(sources.length)
  const segment: Segment = {
    line: 0,
    column: 0,
    source: NONE,
    sourceLine: 0,
    sourceColumn: 0,
    name: null,
    functionName: null,
  }
  readLines(sections, (line, segments) => {
    segments.take((found) => {
      // A source without a name says no more than no source.
      const isNamed = (sources[found.source]?.name ?? null) !== null
      segment.line = line
      segment.column = found.column
      segment.source = isNamed ? found.source : NONE
      segment.sourceLine = found.sourceLine
      segment.sourceColumn = found.sourceColumn
      segment.name = isNamed ? (names[found.name] ?? null) : null
      segment.functionName = isNamed
        ? (functions.get(found.source)?.nameAt(found.sourceLine, found.sourceColumn) ?? null)
        : null
      if (isNamed) used[found.source] = 1
      writer.add(segment)
    })
  })
  writer.flush()

  const contents = new ContentPartWriter((part, major, minor) => {
    parts.push(part)
    contentStarts.push({ major, minor })
  })
  for (const [index, { content }] of sources.entries()) {
    if (used[index] !== 1 || content === null) continue
    const text = json.decode(content)
    if (typeof text === 'string') contents.add(index, text)
  }
  contents.flush()
  return { directory: writeDirectory(segmentStarts, contentStarts), parts }
}

/** Calls `take` for each line of generated code that has segments, in order. Sources and names count through all sections. */
function readLines(
  sections: readonly SourceMapSection[],
  take: (line: number, segments: LineOfSegments) => void,
): void {
  const segments = new LineOfSegments()
  let current = 0
  let firstSource = 0
  let firstName = 0
  for (const { from, until, mappings, sources, names } of sections) {
    const sourcesBefore = firstSource
    const namesBefore = firstName
    decodeMappings(mappings, sources.length, names.length, {
      segment(ownLine, ownColumn, source, sourceLine, sourceColumn, name) {
        const line = from.line + ownLine
        const column = ownLine === 0 ? from.column + ownColumn : ownColumn
        if (line > until.line) return false
        if (line === until.line && column >= until.column) return true
        if (line >= MAX_POSITION || column > MAX_POSITION) {
          throw new SymbolFileError('A section of the source map has an offset that is too large.')
        }
        if (line !== current) {
          take(current, segments)
          current = line
        }
        segments.add(
          column,
          source === NONE ? NONE : source + sourcesBefore,
          sourceLine,
          sourceColumn,
          name === NONE ? NONE : name + namesBefore,
        )
        return true
      },
    })
    firstSource += sources.length
    firstName += names.length
  }
  take(current, segments)
}
