import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ByteWriter } from '#server/symbols/source-maps/byte-writer.ts'
import { random } from '../payloads.ts'

/**
 * Source maps as bundlers and Metro write them, of the sources of this checkout and its packages: real code, so that parsing
 * it, compressing it and the density of its mappings are real.
 */

const root = join(import.meta.dirname, '..', '..')

export type Source = { readonly name: string; readonly text: string }

/** Sources of the app, then of packages. Larger files are generated ones. */
const MAX_SOURCE_BYTES = 400_000

/** @returns sources of about `sizeBytes`: at most a third of the app's own, the rest of its packages */
export function readSources(sizeBytes: number): Source[] {
  const own = globSync('{web,shared}/**/*.{ts,tsx}', { cwd: root }).sort()
  const packages = globSync('node_modules/{@*/,}*/**/*.{js,mjs}', { cwd: root }).sort()
  const sources: Source[] = []
  let bytes = 0
  const take = (paths: readonly string[], until: number): void => {
    for (const path of paths) {
      if (bytes >= until) return
      const text = readFileSync(join(root, path), 'utf8')
      if (text.length > MAX_SOURCE_BYTES || text.length < 200 || /\.(?:min|test)\./.test(path)) continue
      sources.push({ name: path, text })
      bytes += text.length
    }
  }
  take(own, sizeBytes / 3)
  // One of many files, so that no package has all of them.
  take(
    packages.filter((_, at) => at % 7 === 0),
    sizeBytes,
  )
  return sources
}

/** How a build differs from others: names are minified differently, and some files are missing. */
export type Build = { readonly seed: number; readonly debugId: string; readonly isMetro: boolean }

export type MadeMap = {
  readonly json: Buffer
  /** Zero-based columns of calls in the one line of generated code, the same calls in each build; -1 for one that is missing. */
  readonly calls: readonly number[]
}

const TOKEN =
  /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|[A-Za-z_$][\w$]*|\d[\w.]*|[^\s\w$]/g
const FUNCTION = /\b(?:function\s+|const\s+|async\s+)([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?\(|\()/
const MAX_KEPT_NAME = 3
const CALLS_APART = 5

export function makeSourceMap(sources: readonly Source[], { seed, debugId, isMetro }: Build): MadeMap {
  const rand = random(seed)
  const mappings = new ByteWriter()
  const names = new Map<string, number>()
  const calls: number[] = []
  const before = { column: 0, source: 0, line: 0, sourceColumn: 0, name: 0 }
  let column = 200 + Math.floor(rand() * 1_000)
  for (const [source, { text }] of sources.entries()) {
    const isLeftOut = rand() < 0.02
    let [line, lineStart, calling] = [0, 0, 0]
    let tokenAt = -1
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      for (
        let at = text.indexOf('\n', Math.max(tokenAt, lineStart));
        at >= 0 && at < index;
        at = text.indexOf('\n', at + 1)
      ) {
        line++
        lineStart = at + 1
      }
      tokenAt = index
      if (token.startsWith('//') || token.startsWith('/*')) continue
      const isWord = /^[\w$]/.test(token)
      if (isWord && text[index + token.length] === '(' && calling++ % CALLS_APART === 0)
        calls.push(isLeftOut ? -1 : column)
      if (isLeftOut) continue
      if (isWord || token.length > 1) {
        const isRenamed = isWord && token.length > MAX_KEPT_NAME && index % 3 !== 0
        vlq(mappings, column - before.column)
        vlq(mappings, source - before.source)
        vlq(mappings, line - before.line)
        vlq(mappings, index - lineStart - before.sourceColumn)
        if (isRenamed) {
          let name = names.get(token)
          if (name === undefined) names.set(token, (name = names.size))
          vlq(mappings, name - before.name)
          before.name = name
        }
        mappings.byte(COMMA)
        Object.assign(before, { column, source, line, sourceColumn: index - lineStart })
        // Bytecode is a little larger than minified code.
        column += isMetro
          ? 4 + Math.floor(rand() * 6)
          : isRenamed
            ? 1 + Math.floor(rand() * 2)
            : Math.min(token.length, 40)
      } else column++
    }
  }
  const bytes = mappings.take()
  const json = {
    version: 3,
    debug_id: debugId,
    sources: sources.map(({ name }) => (isMetro ? `/app/${name}` : `webpack://shop/./${name}`)),
    sourcesContent: sources.map(({ text }) => text),
    names: [...names.keys()],
    mappings: bytes.toString('latin1', 0, bytes.length - 1),
    ...(isMetro ? { x_facebook_sources: sources.map(({ text }) => [functionMap(text)]) } : {}),
  }
  return { json: Buffer.from(JSON.stringify(json)), calls }
}

/** Function map of Metro: each function from the line it begins in. */
function functionMap(text: string): { names: string[]; mappings: string } {
  const names = ['<global>']
  const out = new ByteWriter()
  for (const value of [0, 0, 1]) vlq(out, value)
  let lineBefore = 1
  for (const [at, line] of text.split('\n').entries()) {
    const name = FUNCTION.exec(line)?.[1]
    if (name === undefined || at === 0) continue
    out.byte(SEMICOLON)
    for (const value of [0, 1, at + 1 - lineBefore]) vlq(out, value)
    names.push(name)
    lineBefore = at + 1
  }
  return { names, mappings: out.take().toString('latin1') }
}

const COMMA = 0x2c
const SEMICOLON = 0x3b
const DIGITS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

function vlq(out: ByteWriter, value: number): void {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  do {
    const digit = rest & 31
    rest >>>= 5
    out.byte(DIGITS[rest > 0 ? digit | 32 : digit] ?? 0)
  } while (rest > 0)
}
