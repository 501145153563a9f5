import { readFileSync } from 'node:fs'
import { type BuiltIndex, type PartSink, SymbolFileError } from '../index-file/built-index.ts'
import { withFile } from '../index-file/with-file.ts'
import type { SymbolKind } from '../files/symbol-kinds.api.ts'
import { buildDartMapIndex } from '../dart/dart-map.ts'
import { buildNativeIndex } from '../native/build-native-index.ts'
import { listObjects } from '../native/list-objects.ts'
import { buildProguardIndex } from '../proguard/build-proguard-index.ts'
import { buildSourceMapIndex } from '../source-maps/build-source-map-index.ts'

/**
 * Builds the index of a file on disk.
 * @param object the place of the object in a file with several
 * @returns the directory
 * @throws SymbolFileError when the file cannot be used
 */
export function buildIndex(path: string, kind: SymbolKind, object: number, addPart: PartSink): Buffer {
  const addAll = ({ directory, parts }: BuiltIndex): Buffer => {
    for (const part of parts) addPart(part)
    return directory
  }
  switch (kind) {
    case 'js_source_map':
      return addAll(buildSourceMapIndex(readFileSync(path)))
    case 'proguard':
      return addAll(buildProguardIndex(readFileSync(path)))
    case 'dart_symbol_map':
      return addAll(buildDartMapIndex(readFileSync(path)))
    case 'macho':
    case 'elf':
    case 'breakpad':
      return withFile(path, (file) => {
        const found = listObjects(file).objects[object]
        if (found === undefined) throw new SymbolFileError('The file has fewer objects than before.')
        return buildNativeIndex(file, found, addPart)
      })
  }
}
