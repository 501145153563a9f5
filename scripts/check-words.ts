/**
 * Finds the words that docs/glossary.md tells us not to use: `npm run check` runs this over the whole repository.
 * The glossary is the only list; this file knows how to read and match it. It also holds three rules of CONTRIBUTING.md:
 * how a comment begins (`sentences.ts`), what an exported function is called, and commit subjects.
 *
 * `node scripts/check-words.ts [--count] [path…]`: `--count` prints the number of places for each file and word.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { argv, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { commitSubjects, findComments, findNames, findSubjects } from './sentences.ts'

export interface Refusal {
  /** The entry as the glossary writes it. */
  readonly entry: string
  readonly say: string
  readonly pattern: RegExp
}

interface Exception {
  readonly entry: string
  readonly path: string
  /** Where given, only lines with this text. */
  readonly text: string | undefined
}

export interface Glossary {
  readonly refusals: readonly Refusal[]
  readonly exceptions: readonly Exception[]
}

export interface Finding {
  readonly path: string
  readonly line: number
  readonly found: string
  readonly refusal: Refusal
}

const ROOTS = ['server', 'web', 'shared', 'test', 'bench', 'demo', 'deploy', 'scripts', 'docs', 'migrations', 'wasm']
const ROOT_FILES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
const TEXT = /\.(?:ts|tsx|js|mjs|css|sql|md|html)$/
/** Recorded SDK payloads, results of measurements and built files; openapi.json is generated from checked sources. */
const SKIPPED = new Set(['node_modules', 'dist', 'fixtures', 'results', '.cache', 'images'])
/** These two must name the words themselves. */
const SELF = new Set(['docs/glossary.md', 'test/conventions/words.test.ts'])

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const backticked = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')

/** Between two words of an entry: spaces, and the sign that starts a comment line, because comments wrap. */
const GAP = String.raw`\s+(?:(?:\*|\/\/|--|#)\s+)?`

function patternOf(entry: string): RegExp {
  if (entry.endsWith('…') && !entry.includes(' ')) {
    return new RegExp(String.raw`(?<![A-Za-z0-9_])${escaped(entry.slice(0, -1))}(?=[A-Z])`, 'g')
  }
  if (/[A-Z_/()]/.test(entry)) return new RegExp(String.raw`(?<![A-Za-z0-9])${escaped(entry)}`, 'g')
  return new RegExp(String.raw`\b${entry.split(' ').map(escaped).join(GAP)}s?\b`, 'gi')
}

const isExact = (entry: string): boolean => /[A-Z_/()…]/.test(entry)

/** @throws Error when a row of the glossary cannot be read */
export function readGlossary(markdown: string): Glossary {
  const refusals: Refusal[] = []
  const exceptions: Exception[] = []
  let table = ''
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) table = line.slice(3)
    if (!line.startsWith('|') || /^\|[-|: ]+\|$/.test(line)) continue
    const cells = line.split('|').slice(1, -1)
    const [first, second, third] = cells.map((cell) => cell.trim())
    if (first === undefined || second === undefined || third === undefined || cells.length !== 3) {
      throw new Error(`docs/glossary.md: a row has three cells: ${line}`)
    }
    if (first === 'Say' || first === 'Write' || first === 'Word') continue
    if (table === 'Terms' || table === 'Sentences') {
      for (const entry of backticked(third)) refusals.push({ entry, say: first, pattern: patternOf(entry) })
    } else {
      const [path = '', text] = backticked(second)
      for (const entry of backticked(first)) exceptions.push({ entry, path, text })
    }
  }
  const known = new Set(refusals.map(({ entry }) => entry))
  for (const { entry } of exceptions) {
    if (!known.has(entry)) throw new Error(`docs/glossary.md: the exception for "${entry}" names no entry`)
  }
  return { refusals, exceptions }
}

/** Names in camelCase, snake_case and kebab-case become words; lines stay where they are. */
const asWords = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')

export function findWords(glossary: Glossary, path: string, text: string): Finding[] {
  const findings: Finding[] = []
  const lines = text.split('\n')
  const words = asWords(text)
  const pathWords = asWords(path)
  for (const refusal of glossary.refusals) {
    const exact = isExact(refusal.entry)
    const isExcepted = (line: string): boolean =>
      glossary.exceptions.some(
        (one) =>
          one.entry === refusal.entry &&
          (one.path === '*' || path.startsWith(one.path)) &&
          (one.text === undefined || line.includes(one.text)),
      )
    const inPath = refusal.pattern.exec(exact ? path : pathWords)
    refusal.pattern.lastIndex = 0
    if (inPath !== null && !isExcepted(path)) findings.push({ path, line: 0, found: inPath[0], refusal })
    const source = exact ? text : words
    let at = 0
    let line = 1
    for (const match of source.matchAll(refusal.pattern)) {
      for (; at < match.index; at++) if (source.charCodeAt(at) === 10) line++
      if (!isExcepted(lines[line - 1] ?? ''))
        findings.push({ path, line, found: match[0].replace(/\s+/g, ' '), refusal })
    }
  }
  return findings
}

function* textFiles(root: string, path: string): Generator<string> {
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue
    const inside = join(path, entry.name)
    if (entry.isDirectory()) yield* textFiles(root, inside)
    else if (TEXT.test(entry.name)) yield inside
  }
}

/** All texts the glossary applies to, as paths below `root`. */
export function checkedFiles(root: string): string[] {
  const files = ROOT_FILES.filter((file) => statSync(join(root, file), { throwIfNoEntry: false }) !== undefined)
  for (const folder of ROOTS) {
    if (statSync(join(root, folder), { throwIfNoEntry: false }) !== undefined) files.push(...textFiles(root, folder))
  }
  return files.filter((file) => !SELF.has(file))
}

export const describeFinding = ({ path, line, found, refusal }: Finding): string =>
  `${line === 0 ? `${path}: the file's name` : `${path}:${line}:`} has "${found}"; say: ${refusal.say}`

function main(): void {
  const options = new Set(argv.slice(2).filter((argument) => argument.startsWith('--')))
  const under = argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const root = process.cwd()
  const here = fileURLToPath(new URL('..', import.meta.url))
  const glossary = readGlossary(readFileSync(join(here, 'docs/glossary.md'), 'utf8'))
  const prefixes = under.map((path) => relative(root, resolve(path)))
  const files = checkedFiles(root).filter(
    (file) =>
      prefixes.length === 0 ||
      prefixes.some((prefix) => prefix === '' || file === prefix || file.startsWith(`${prefix}/`)),
  )
  const findings = files.flatMap((file) => findWords(glossary, file, readFileSync(join(root, file), 'utf8')))
  if (options.has('--count')) {
    const counts = new Map<string, Map<string, number>>()
    for (const { path, refusal } of findings) {
      const ofFile = counts.get(path) ?? new Map<string, number>()
      counts.set(path, ofFile.set(refusal.entry, (ofFile.get(refusal.entry) ?? 0) + 1))
    }
    for (const [path, words] of counts) {
      stdout.write(`${path}: ${[...words].map(([entry, count]) => `${entry} ${count}`).join(', ')}\n`)
    }
  } else {
    const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
    const lines = [
      ...findings.map(describeFinding),
      ...[...sources].flatMap(([file, text]) => findComments(file, text)),
      ...findNames(sources),
      ...findSubjects(commitSubjects(root)),
    ]
    for (const line of lines) stdout.write(`${line}\n`)
    if (lines.length > 0) process.exitCode = 1
  }
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main()
