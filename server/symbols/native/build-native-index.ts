import { SymbolFileError, type PartSink, type PositionedFile } from '../index-file/built-index.ts'
import { addBreakpad } from './breakpad.ts'
import { addDwarf } from './dwarf.ts'
import { readElf } from './elf.ts'
import { IndexWriter } from './index-writer.ts'
import { readMachO } from './mach-o.ts'
import type { NativeObject } from './native-object.ts'
import { Budget, readingFile } from './section.ts'
import { SymbolNames } from './symbol-names.ts'

/**
 * Builds the index of one object of a file: which functions, inlined calls, files and lines each address has. Addresses
 * are relative to the image. Debug information comes first, the symbol table names what it leaves open.
 *
 * @returns the directory
 * @throws SymbolFileError when the file is damaged, or has neither symbols nor debug information
 */
export function buildNativeIndex(file: PositionedFile, object: NativeObject, addPart: PartSink): Buffer {
  return readingFile(() => {
    const directory = object.kind === 'breakpad' ? indexBreakpad(file, addPart) : indexImage(file, object, addPart)
    if (directory !== null) return directory
    throw new SymbolFileError(
      object.features.debug
        ? 'The debug information of the file names no function.'
        : 'The file has neither debug information nor symbols of functions: it was stripped.',
    )
  })
}

function indexBreakpad(file: PositionedFile, addPart: PartSink): Buffer | null {
  const writer = new IndexWriter(0)
  const symbols = addBreakpad(file, writer)
  return writer.finish(symbols, [{ start: 0, end: Number.MAX_SAFE_INTEGER }], addPart)
}

function indexImage(file: PositionedFile, object: NativeObject, addPart: PartSink): Buffer | null {
  const image = object.kind === 'elf' ? readElf(file) : readMachO(file, object)
  const writer = new IndexWriter(image.baseAddress)
  const symbols = image.symbols()
  // Honest files cost about one step for each byte; compressed ones a few.
  const budget = new Budget(20_000_000 + 16 * object.size)
  addDwarf(image, writer, new SymbolNames(symbols, writer), budget)
  return writer.finish(symbols, image.code, addPart)
}
