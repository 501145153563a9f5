import { stripTypeScriptTypes } from 'node:module'
import { parse } from '@babel/parser'

/**
 * JavaScript of a TypeScript file: types become spaces, so that lines and columns of a stack trace are those of the
 * source. Node strips no types below node_modules, where the package lives.
 */
export function javascriptOf(source: string): string {
  // Only module specifiers and addresses of threads are paths that end so.
  const code = stripTypeScriptTypes(source, { mode: 'strip' }).replaceAll(
    /(['"])((?:\.{1,2}|#\w+)\/[^'"\n]*)\.ts\1/g,
    '$1$2.js$1',
  )
  return code.replaceAll(/[ \t]+$/gm, '')
}

const DYNAMIC = /(?:\bimport|createRequire\(import\.meta\.url\)(?:\.resolve)?)\(['"]([^'"]+)['"]\)/g

/** Names of the packages that JavaScript or TypeScript imports; imports of types alone do not count. */
export function packagesOf(code: string): Set<string> {
  const { program } = parse(code, { sourceType: 'module', plugins: ['typescript', 'jsx'] })
  const named = program.body.flatMap((statement) => {
    if (statement.type === 'ImportDeclaration') return statement.importKind === 'type' ? [] : [statement.source.value]
    if (statement.type !== 'ExportNamedDeclaration' && statement.type !== 'ExportAllDeclaration') return []
    return statement.exportKind === 'type' || statement.source == null ? [] : [statement.source.value]
  })
  const specifiers = [...named, ...[...code.matchAll(DYNAMIC)].map(([, name = '']) => name)]
  return new Set(
    specifiers
      .filter((one) => !/^(?:[.#/]|node:)/.test(one))
      .map((one) => one.split('/', one.startsWith('@') ? 2 : 1).join('/')),
  )
}
