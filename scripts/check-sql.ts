/**
 * `npm run check` runs this over `server/`: SQL is in `*.queries.ts` only, and a table is written only by the queries
 * of its room (`table-owners.ts`). It compares text, not types: it reads 600 files in half a second.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { privateTables, readOnlyViews, tableOwners } from './table-owners.ts'

/**
 * Code below the domains, which runs SQL that concerns no table of a domain: the driver, migrations, partitions and
 * messages (`storage`), the database we start ourselves (`embedded-postgres`), graphile-worker's own schema (`jobs`), and
 * the command line's question whether a database answers.
 */
const INFRASTRUCTURE = ['platform/storage/', 'platform/embedded-postgres/', 'platform/jobs/', 'service/cli/database.ts']

export type SqlFinding = { readonly file: string; readonly line: number; readonly problem: string }

const BUILDER = /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto|withRecursive)\(/g
const TEMPLATE = /(?<![\w$.])sql(<[^`;=]*>)?`|(?<![\w$.])sql(\.(raw|ref|table|id|join|val|lit))(<[^(]*>)?\(/g
const RUN = /\.(query|copyIn|copyOut|executeQuery|executeTakeFirst|executeTakeFirstOrThrow)(<[^;=]*>)?\(/g
const DRIVER = /from\s*'(pg|pg-copy-streams)'/g
/** Strings that are statements. Ours are in lower case, which distinguishes them from sentences. */
const STATEMENT =
  /^\s*(select\s[^]*\sfrom\s|select\s+(count|exists|pg_|1\b)|insert\s+into\s|update\s+\S+\s+(as\s+)?(\w+\s+)?set\s|delete\s+from\s|merge\s+into\s|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\s|truncate\s|copy\s+\S+\s*\(|(create|alter|drop)\s+(table|index|unique|trigger|function|view|schema)\s|lock\s+table\s|set\s+(local|session)\s|vacuum\s|analyze\s|listen\s+\w|notify\s+\w|savepoint\s)/

const BUILDER_WRITE = /\.(?:insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(\s*(?:'(\w+)|([^'\s]))/g
const BUILDER_READ = /\.(?:selectFrom|innerJoin|leftJoin|rightJoin|fullJoin|crossJoin|using)\(\s*'(\w+)/g
const SQL_WRITE =
  /\b(?:insert\s+into|delete\s+from(?:\s+only)?|merge\s+into|truncate(?:\s+table)?|copy)\s+("?\w+"?|\$\{)|\bupdate\s+(?:only\s+)?("?\w+"?|\$\{[^}]*\})\s+(?:(?:as\s+)?\w+\s+)?set\s/g
const SQL_READ = /\b(?:from|join|using)\s+(?:only\s+)?(\w+)/g

/** Declarations of tables whose rows `platform/storage/own-rows.ts` deletes: a write without SQL. */
const OWN_ROWS = /\bownRows\b(?!\s*[,}])(?:\(\s*'(\w+)')?/g

/** @param file its path in `server/` */
export function checkSql(file: string, source: string, views = readOnlyViews): SqlFinding[] {
  const found: SqlFinding[] = []
  const { code, texts } = split(source)
  const add = (at: number, problem: string): void => {
    found.push({ file: `server/${file}`, line: source.slice(0, at).split('\n').length, problem })
  }
  const each = (pattern: RegExp, text: string, report: (match: RegExpExecArray) => void): void => {
    for (const match of text.matchAll(pattern)) report(match)
  }
  if (INFRASTRUCTURE.some((prefix) => file.startsWith(prefix))) return []
  const folder = file.split('/', 2).join('/')
  const write = (at: number, name: string): void => {
    const table = name.replaceAll('"', '')
    if (views[table] !== undefined) return add(at, `Writes ${table}, which is a read-only view.`)
    const owners = tableOwners[table]
    if (owners === undefined || owners.includes(folder)) return
    const owner = `server/${owners.join(', server/')}`
    add(at, `Writes ${table}, which belongs to ${owner}. Call a function of a *.queries.ts file there instead.`)
  }
  each(OWN_ROWS, source, ({ index, 1: table }) => {
    if (table === undefined) add(index, 'ownRows is not called with the name of a table. Write it there as text.')
    else write(index, table)
  })
  each(DRIVER, source, ({ index }) =>
    add(index, 'The driver is imported outside server/platform/storage. Take a Connection, Database or Tx instead.'),
  )
  if (!file.endsWith('.queries.ts')) {
    const move = 'Move it to a function in a *.queries.ts file of this folder and call that.'
    each(BUILDER, code, ({ index, 1: name }) => add(index, `A query is built here (${name}). ${move}`))
    each(TEMPLATE, code, ({ index }) => add(index, `This is an sql template. ${move}`))
    each(RUN, code, ({ index, 1: name }) => add(index, `A statement is run here (${name}). ${move}`))
    for (const { at, text } of texts)
      if (STATEMENT.test(text))
        add(at, `A text is an SQL statement: "${text.trim().replaceAll(/\s+/g, ' ').slice(0, 30)}". ${move}`)
    return found
  }
  const read = (at: number, table: string): void => {
    const view = views[table]
    if (view !== undefined && view.room !== folder)
      return add(at, `Reads ${table}, a view of the role ${view.role} that only server/${view.room} reads.`)
    const owners = tableOwners[table]
    if (owners === undefined || owners.includes(folder) || !privateTables.has(table)) return
    const owner = `server/${owners.join(', server/')}`
    add(at, `Reads ${table}, which only ${owner} reads. Call a function of a *.queries.ts file there instead.`)
  }
  each(BUILDER_WRITE, source, ({ index, 1: table }) => write(index, table ?? ''))
  each(BUILDER_READ, source, ({ index, 1: table }) => read(index, table ?? ''))
  each(/\.copyIn\(\s*['"`](\w+)/g, source, ({ index, 1: table }) => write(index, table ?? ''))
  for (const { at, text } of texts) {
    each(SQL_WRITE, text, ({ index, 1: one, 2: other }) => write(at + index, one ?? other ?? ''))
    each(SQL_READ, text, ({ index, 1: table }) => read(at + index, table ?? ''))
  }
  return found
}

type Split = {
  /** The source with comments and the contents of strings and templates blanked out. */
  readonly code: string
  readonly texts: readonly { readonly at: number; readonly text: string }[]
}

/** Before a slash: a regular expression may begin there. */
const BEFORE_REGEX = /(^|[(,=:[!&|?{};+>]|return|=>)\s*$/

/** Separates code, strings and comments. Expressions inside templates count as code, and as `${}` in their string. */
function split(source: string): Split {
  const code = source.split('')
  const texts: { at: number; text: string }[] = []
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at++) if (code[at] !== '\n') code[at] = ' '
  }
  let at = 0
  const inCode = (closing: '}' | null): void => {
    let depth = 0
    while (at < source.length) {
      const char = source[at]
      const two = source.slice(at, at + 2)
      if (two === '//' || two === '/*') {
        const end = two === '//' ? source.indexOf('\n', at) : source.indexOf('*/', at) + 2
        const to = end < at + 2 ? source.length : end
        blank(at, to)
        at = to
      } else if (char === "'" || char === '"') inString(char)
      else if (char === '`') inTemplate()
      else if (char === '/' && BEFORE_REGEX.test(source.slice(Math.max(0, at - 20), at))) inRegex()
      else if (char === '}' && closing !== null && depth === 0) return
      else {
        if (char === '{') depth++
        if (char === '}') depth--
        at++
      }
    }
  }
  const inString = (quote: string): void => {
    const start = ++at
    while (at < source.length && source[at] !== quote && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1
    texts.push({ at: start, text: source.slice(start, at) })
    blank(start, at++)
  }
  const inTemplate = (): void => {
    const start = ++at
    let text = ''
    let from = at
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        text += source.slice(from, at)
        blank(from, at)
        const open = at
        at += 2
        inCode('}')
        at++
        // Same length, so that positions in the text are positions in the file.
        text += `\${${' '.repeat(at - open - 3)}}`
        from = at
      } else at += source[at] === '\\' ? 2 : 1
    }
    text += source.slice(from, at)
    blank(from, at++)
    texts.push({ at: start, text })
  }
  const inRegex = (): void => {
    const start = ++at
    let inClass = false
    while (at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/')) {
      if (source[at] === '[') inClass = true
      if (source[at] === ']') inClass = false
      at += source[at] === '\\' ? 2 : 1
    }
    blank(start, at++)
  }
  inCode(null)
  return { code: code.join(''), texts }
}

/** Tables of the generated row types without a folder, and entries for tables that do not exist. */
export function checkOwners(generated: string, owners: Readonly<Record<string, readonly string[]>>): string[] {
  const tables = [...generated.matchAll(/^ {2}(\w+): \{$/gm)].map(([, table]) => table ?? '')
  const known = new Set(tables)
  return [
    ...tables.filter((table) => owners[table] === undefined).map((table) => `${table} has no line in it.`),
    ...Object.keys(owners)
      .filter((table) => !known.has(table))
      .map((table) => `${table} is no table. Remove its line.`),
  ].map((problem) => `scripts/table-owners.ts: ${problem}`)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const server = fileURLToPath(new URL('../server/', import.meta.url))
  const files = readdirSync(server, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture|clients)\.ts$/.test(file))
  const lines = [
    ...files
      .toSorted()
      .flatMap((file) => checkSql(file, readFileSync(join(server, file), 'utf8')))
      .map(({ file, line, problem }) => `${file}:${line}: ${problem}`),
    ...checkOwners(readFileSync(join(server, 'platform', 'storage', 'tables.gen.ts'), 'utf8'), tableOwners),
  ]
  if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`)
  process.exitCode = lines.length === 0 ? 0 : 1
}
