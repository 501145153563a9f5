/**
 * The index of a symbol file: a directory, which names the parts that answer a query, and the parts. A look-up reads the
 * directory and one or two parts, never the whole index.
 */
export type BuiltIndex = { readonly directory: Buffer; readonly parts: readonly Buffer[] }

/** Takes the next part of an index, so that the parts of a large one are never in memory together. */
export type PartSink = (part: Buffer) => void

/** A part has about this many bytes before compression: larger ones take longer to read, smaller ones repeat more texts. */
export const PART_BYTES = 64 * 1024

/** The largest part and directory of an index: a look-up has them in memory. */
export const MAX_PART_BYTES = 16 * 1024 * 1024
export const MAX_DIRECTORY_BYTES = 4 * 1024 * 1024

/** Reads a part of an index that was loaded before. */
export type PartReader = (part: number) => Buffer

/** A file that is read by position: it may be larger than memory allows. */
export type PositionedFile = {
  readonly sizeBytes: number
  /** @returns fewer bytes at the end of the file */
  read(position: number, length: number): Buffer
}

/** A file that cannot be used. The message is a sentence that is shown beside the file. */
export class SymbolFileError extends Error {}
