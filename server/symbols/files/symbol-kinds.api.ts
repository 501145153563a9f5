/** Kinds of files that make frames readable, and their bounds (design: upload limits of the API). */

export const SYMBOL_KINDS = ['js_source_map', 'proguard', 'macho', 'elf', 'breakpad', 'dart_symbol_map'] as const
export type SymbolKind = (typeof SYMBOL_KINDS)[number]

/** Kinds of `POST …/source-maps`; the others are those of `POST …/dsyms`. */
export const CODE_KINDS = ['js_source_map', 'proguard'] as const satisfies readonly SymbolKind[]
export const NATIVE_KINDS = ['macho', 'elf', 'breakpad', 'dart_symbol_map'] as const satisfies readonly SymbolKind[]

const MIB = 1024 * 1024
export const MAX_BYTES: Readonly<Record<SymbolKind, number>> = {
  js_source_map: 64 * MIB,
  proguard: 128 * MIB,
  macho: 512 * MIB,
  elf: 512 * MIB,
  breakpad: 512 * MIB,
  dart_symbol_map: 64 * MIB,
}

/** The version of the form of each index. A file whose index has another version is indexed again. */
export const INDEX_VERSIONS: Readonly<Record<SymbolKind, number>> = {
  js_source_map: 1,
  proguard: 1,
  macho: 1,
  elf: 1,
  breakpad: 1,
  dart_symbol_map: 1,
}

export type SymbolState = 'indexing' | 'ready' | 'failed'
