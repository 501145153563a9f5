import { CONTRACT_NOTE, splitStatements, type Migration } from '../server/platform/storage/migrate.ts'

/**
 * Finds statements that a running installation does not survive: an older program still uses the table, or a lock on a
 * large table stops everything for minutes. `docs/decisions/sql-and-migrations.md` explains expand and contract.
 */

/** The last file of the baseline. Files up to here create an empty database. */
const BASELINE = 22

type Rule = {
  readonly pattern: RegExp
  readonly reason: string
  /** Harmless on a table that the same file creates. */
  readonly onlyExisting?: true
}

const RULES: readonly Rule[] = [
  { pattern: /\bdrop (?:table|column|schema|view|type|function)\b/, reason: 'an older program may still use it' },
  { pattern: /\bdrop index (?!concurrently)/, reason: 'drop it concurrently, in a file without a transaction' },
  { pattern: /\brename\b/, reason: 'an older program uses the old name: add, copy and remove later' },
  { pattern: /\btruncate\b/, reason: 'it deletes data that an older program may still read' },
  {
    pattern: /\balter (?:column )?\w+ (?:set data )?type\b/,
    reason: 'it rewrites the table under a lock: add a new column',
    onlyExisting: true,
  },
  {
    pattern: /\bset not null\b/,
    reason: 'it reads the whole table under a lock: add a check as `not valid` and validate it later',
    onlyExisting: true,
  },
  {
    pattern: /\badd (?:column )?(?!constraint\b)(?:if not exists )?\w+ (?!.*\bdefault\b)[^,]*\bnot null\b/,
    reason: 'rows of an older program lack the value: give it a default',
    onlyExisting: true,
  },
  {
    pattern: /\badd (?:column )?(?:if not exists )?\w+ [^,]*\bgenerated always as \(.*\bstored\b/,
    reason: 'it rewrites the table under a lock',
    onlyExisting: true,
  },
  {
    pattern: /\badd (?:constraint \w+ )?(?:foreign key|check|exclude)\b(?!.*\bnot valid\b)/,
    reason: 'it reads the whole table under a lock: add it as `not valid` and validate it later',
    onlyExisting: true,
  },
  {
    pattern: /\badd (?:constraint \w+ )?(?:unique|primary key)\b(?!.*\busing index\b)/,
    reason: 'it builds an index under a lock: build it concurrently and add the constraint using that index',
    onlyExisting: true,
  },
  {
    pattern: /^create (?:unique )?index (?!concurrently)/,
    reason: 'it stops writes while it is built: create it concurrently, in a file without a transaction',
    onlyExisting: true,
  },
  {
    pattern: /^(?:update|delete from|insert into \w+ .*\bselect)\b/,
    reason: 'it holds locks on many rows: change data in a background job',
    onlyExisting: true,
  },
]

/** Statements of a file without a transaction; each can run again after an interruption. */
const REPEATABLE = [
  /^create (?:unique )?index concurrently if not exists /,
  /^drop index concurrently if exists /,
  /^alter type \w+ add value if not exists /,
  /^alter table \w+ validate constraint /,
  /^set /,
]

/** Returns one sentence for each problem of a migration. */
export function problemsOf({ name, sql, statements }: Migration): string[] {
  if (Number(name.slice(0, 4)) <= BASELINE) return []
  const all = splitStatements(sql).map(normalise)
  if (statements !== null)
    return all
      .filter((statement) => !REPEATABLE.some((pattern) => pattern.test(statement)))
      .map(
        (statement) => `${name}: "${short(statement)}": a file without a transaction allows only repeatable statements`,
      )
  if (CONTRACT_NOTE.test(sql)) return []
  const created = new Set(
    all.flatMap((statement) => /^create table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? []),
  )
  return all.flatMap((statement) =>
    RULES.filter(
      ({ pattern, onlyExisting }) =>
        pattern.test(statement) && !(onlyExisting && created.has(tableOf(statement) ?? '')),
    ).map(({ reason }) => `${name}: "${short(statement)}": ${reason}`),
  )
}

/** Lower case, without comments at the end of lines, one space between words. */
const normalise = (statement: string): string =>
  statement.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim().toLowerCase()

const tableOf = (statement: string): string | undefined =>
  /^(?:alter table (?:if exists )?(?:only )?|update |delete from |insert into |create (?:unique )?index (?:if not exists )?\w* ?on (?:only )?)(\w+)/.exec(
    statement,
  )?.[1]

const short = (statement: string): string => (statement.length > 60 ? `${statement.slice(0, 57)}…` : statement)
