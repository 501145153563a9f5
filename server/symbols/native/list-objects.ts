import { SymbolFileError, type PositionedFile } from '../index-file/built-index.ts'
import { isBreakpad, readBreakpad } from './breakpad.ts'
import { isElf, readElf } from './elf.ts'
import { machOSlices, readMachO } from './mach-o.ts'
import type { NativeObject } from './native-object.ts'
import { readingFile } from './section.ts'

/**
 * Finds the images that a file has symbols of: each slice of a Mach-O file, an ELF file, or a Breakpad file.
 *
 * @throws SymbolFileError with a sentence for members, when the file is none of these or damaged
 */
export function listObjects(file: PositionedFile): { objects: NativeObject[] } {
  return readingFile(() => {
    if (isElf(file)) return { objects: [readElf(file).object] }
    if (isBreakpad(file)) return { objects: [readBreakpad(file)] }
    const slices = machOSlices(file)
    if (slices === undefined) {
      throw new SymbolFileError('The file is no Mach-O, ELF or Breakpad file.')
    }
    if (slices.length === 0) throw new SymbolFileError('The file holds no program, only static libraries.')
    return { objects: slices.map((slice) => readMachO(file, slice).object) }
  })
}
