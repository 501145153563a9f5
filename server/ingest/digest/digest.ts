import type { Database, Tx } from '../../platform/storage/database.ts'
import { requestFold } from '../../telemetry/app-health/fold-health.ts'
import { DIGESTION, factContext, type FactContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import { quietly } from '../../platform/context/app.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import {
  type Counting,
  JournalTakenOverError,
  type JournalStep,
  type Refusals,
  ShardJournal,
} from '../../issues/recording/journal.ts'
import { projectShard, type SpoolEntry } from '../spool/entry.ts'
import { type SpoolBatch, quarantineEntry, settleBatches, SpoolFencedError } from '../spool/read.ts'
import { ensureDayPartitions, type DayTable } from '../../platform/storage/day-partitions.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import {
  ACCEPTED,
  type ItemOutcome,
  type ItemContext,
  type Counted,
  type Recorder,
} from '../../events/items/recorder.ts'
import type { PreparedFact, PreparedItem, FactKind, FactOf } from './item.ts'
import { OutcomeSums, recordClientLosses, recordCostlyRules } from '../outcomes/outcomes.ts'
import type { Pace } from '../../telemetry/logs/entries.queries.ts'
import { deletedAmong } from '../../projects/registry/project-rows.queries.ts'
import type { FairTurns } from './fair-turns.ts'
import { prepareEntry } from './prepare-entry.ts'
import type { ProjectFactsReader } from './project-facts.ts'
import {
  type AnnounceFiles,
  attachmentRecorder,
  refusedFileRecorder,
} from '../../events/attachments/record-attachments.ts'
import { recordFeedback } from '../../issues/feedback/record-feedback.ts'
import { recordItemsOfIssues } from '../../issues/rows/view-issue.ts'
import { recordEvents } from '../../issues/recording/record-events.ts'
import { recordJourneyErrors } from '../../telemetry/journeys/record-journey-errors.ts'
import { performanceRecorder } from '../../telemetry/performance/record-performance.ts'
import { precursorRecorder } from '../../telemetry/precursors/record-precursors.ts'
import { sessionRecorder, recordUserDevices } from '../../telemetry/app-health/record-sessions.ts'
import { checkInRecorder } from '../../telemetry/monitors/record-check-ins.ts'
import { entryRecorder, LOGS, TRACE_METRICS } from '../../telemetry/logs/record-entries.ts'
import { recordTraceErrors, traceRecorder } from '../../telemetry/traces/record-traces.ts'
import { KnownReleases, recordSightings, type Sighting } from '../../projects/releases/record-sightings.ts'

const announceFiles: AnnounceFiles = (tx, context, files) =>
  recordItemsOfIssues(tx, context, 'issue.attachment_received', files)

/**
 * The recorder of each kind. Digestion runs them in this order, so that two digesters cannot deadlock.
 * @param counting how events are counted; default: at once
 * @param pace called between parts of many entries
 */
const recordersWith = (
  counting: Counting | undefined,
  pace: Pace | null = null,
): { readonly [K in FactKind]: Recorder<FactOf<K>> } => ({
  event: async (tx, context, facts, isBehind) => {
    const outcomes = await recordEvents(tx, context, facts, counting, isBehind)
    if (!context.isQuiet) await recordJourneyErrors(tx, facts, outcomes)
    recordTraceErrors(tx, context.at, facts, outcomes)
    return outcomes
  },
  attachment: (...given) => attachmentRecorder(announceFiles)(...given),
  refused_file: (...given) => refusedFileRecorder(announceFiles)(...given),
  feedback: recordFeedback,
  check_in: checkInRecorder,
  logs: (...given) => entryRecorder(LOGS, pace)(...given),
  trace_metrics: (...given) => entryRecorder(TRACE_METRICS, pace)(...given),
  // Sessions of the same batch may need it.
  user_device: recordUserDevices,
  session: sessionRecorder,
  performance: performanceRecorder,
  precursors: precursorRecorder,
  trace: traceRecorder,
  client_report: recordClientLosses,
  costly_rules: recordCostlyRules,
})

/** A prepared request; `poison` is the reason when preparing failed unexpectedly. */
export type PreparedEntry = {
  readonly entry: SpoolEntry
  /** Empty when the project was deleted; then only outcomes are recorded. */
  readonly orgId: string
  /** Null when the entry could not be split. */
  readonly items: readonly PreparedItem[] | null
  readonly poison: string | null
}

/** Rows of one part, ready to be committed together. */
export type PreparedBatches = { readonly batches: readonly SpoolBatch[]; readonly entries: readonly PreparedEntry[] }

/** Figures of a commit, for counters. */
export type DigestFigures = {
  readonly entries: number
  readonly events: number
  readonly duplicates: number
  readonly quarantined: number
}

/**
 * Prepares a row in turns: decodes, parses, scrubs, normalises, fingerprints. An entry that fails does not affect the
 * others.
 * @param isStopped whether the result is no longer wanted; then it is null
 * @throws the error of an unreachable database; the row stays in the spool
 */
export async function prepareRow(
  app: App,
  facts: ProjectFactsReader,
  turns: FairTurns,
  batch: SpoolBatch,
  isStopped: () => boolean = () => false,
): Promise<{ readonly entries: readonly PreparedEntry[]; readonly usedMs: number } | null> {
  const projectId = batch.entries[0]?.projectId ?? ''
  const orgId = (await facts.of(projectId))?.orgId ?? ''
  const entries: PreparedEntry[] = []
  const turn = await turns.enter(orgId, projectId)
  let usedMs = 0
  try {
    for (const entry of batch.entries) {
      const wait = turn.pause()
      if (wait !== null) await wait
      if (isStopped()) return null
      const project = await facts.of(entry.projectId)
      try {
        entries.push({ entry, orgId, items: await prepareEntry(entry, project, turn), poison: null })
      } catch (error) {
        if (isDatabaseAway(error)) throw error
        app.log.error({ project_id: entry.projectId, err: error }, 'an entry cannot be digested; it goes to quarantine')
        entries.push({ entry, orgId, items: null, poison: reasonOf(error) })
      }
    }
  } finally {
    usedMs = turn.leave()
  }
  return { entries, usedMs }
}

/**
 * Records prepared rows in one transaction, which deletes them from the spool and records the outcome of every item. When
 * the database refuses the batch, its entries are recorded one by one, and those that fail go to quarantine.
 * @param isBehind further batches follow at once: they may count what this one records, and jobs do what can wait
 * @param journal of the part; null to count at once, for a batch beside others
 * @param pace called between parts of what takes long
 * @throws SpoolFencedError, or the error of an unreachable database; then nothing is recorded
 */
export async function commitBatches(
  app: App,
  prepared: PreparedBatches,
  isBehind = false,
  journal: ShardJournal | null = new ShardJournal(
    () => [projectShard(prepared.batches[0]?.projectNumber ?? 0)],
    app.clock,
  ),
  pace: Pace | null = null,
): Promise<DigestFigures> {
  const today = utcDay(app.clock.now())
  for (const day of new Set([today, ...prepared.entries.map(({ entry }) => utcDay(new Date(entry.receivedAtMs)))])) {
    await ensureDay(app.db, day)
  }
  const [imported, live] = partition(prepared.entries)
  await recordBatchSightings(app, live)
  if (imported.length > 0) await recordBatchSightings(quietly(app), imported)
  await requestFold(app)
  const step = journal?.begin(isBehind)
  try {
    const figures = await app.tx(async (tx) => {
      const [, entries] = await Promise.all([settle(tx, prepared.batches), ofProjects(tx, prepared.entries)])
      const [ofImports, others] = partition(entries)
      const done = await record(app, tx, others, isBehind, step, pace)
      // Counted at once: the journal does not know which of its sums are quiet.
      const quiet = ofImports.length === 0 ? [] : [await record(quietly(app), tx, ofImports, true)]
      await step?.finish(tx, factContext(app, DIGESTION))
      return addFigures([done, ...quiet])
    })
    step?.committed()
    return figures
  } catch (error) {
    journal?.reset()
    if (!mayBlameEntry(error)) throw error
    app.log.error(
      { err: error, entries: prepared.entries.length },
      'a batch cannot be recorded; recording its entries one by one',
    )
    return commitOneByOne(app, prepared, journal?.begin(false))
  }
}

/** Entries of imports, and the others. */
function partition(entries: readonly PreparedEntry[]): [PreparedEntry[], readonly PreparedEntry[]] {
  const imported = entries.filter(({ entry }) => entry.isImported === true)
  return [imported, imported.length === 0 ? entries : entries.filter(({ entry }) => entry.isImported !== true)]
}

async function commitOneByOne(
  app: App,
  prepared: PreparedBatches,
  step: JournalStep | undefined,
): Promise<DigestFigures> {
  return app.tx(async (tx) => {
    const [, entries] = await Promise.all([settle(tx, prepared.batches), ofProjects(tx, prepared.entries)])
    await step?.lockOneByOne(tx, new Set(entries.map(({ entry }) => entry.projectId)), buildSumRefusals(app))
    const figures: DigestFigures[] = []
    for (const one of entries) {
      try {
        const of = one.entry.isImported === true ? quietly(app) : app
        figures.push(await tx.savepoint(() => record(of, tx, [one], true)))
      } catch (error) {
        if (!mayBlameEntry(error)) throw error
        figures.push(await record(app, tx, [{ ...one, poison: reasonOf(error) }], true))
      }
    }
    await step?.finishOneByOne(tx, factContext(app, DIGESTION), buildSumRefusals(app))
    return addFigures(figures)
  })
}

const addFigures = (figures: readonly DigestFigures[]): DigestFigures =>
  figures.reduce((a, b) => ({
    entries: a.entries + b.entries,
    events: a.events + b.events,
    duplicates: a.duplicates + b.duplicates,
    quarantined: a.quarantined + b.quarantined,
  }))

async function settle(tx: Tx, batches: readonly SpoolBatch[]): Promise<void> {
  const [first] = batches
  if (first !== undefined) await settleBatches(tx, first.part, batches)
}

/**
 * Leaves out the entries of deleted projects. Deletion waits for transactions that asked before it, so the statement that
 * settles the batch, which gives the transaction its id, comes first.
 */
async function ofProjects(tx: Tx, entries: readonly PreparedEntry[]): Promise<readonly PreparedEntry[]> {
  const deleted = await deletedAmong(tx, [...new Set(entries.map(({ entry }) => entry.projectId))])
  return deleted.size === 0 ? entries : entries.filter(({ entry }) => !deleted.has(entry.projectId))
}

async function record(
  app: App,
  tx: Tx,
  entries: readonly PreparedEntry[],
  isBehind: boolean,
  counting?: Counting,
  pace: Pace | null = null,
): Promise<DigestFigures> {
  const now = app.clock.now()
  const context = factContext(app, DIGESTION, now)
  const recorders = recordersWith(counting, pace)
  const sums = new OutcomeSums()
  const facts = new Map<FactKind, Due[]>()
  let quarantined = 0
  let counted = 0
  for (const { entry, orgId, items, poison } of entries) {
    const isCounted = orgId !== CANARY_ORG_ID
    if (isCounted) counted++
    const base = { projectId: entry.projectId, keyId: entry.keyId, receivedAt: new Date(entry.receivedAtMs) }
    if (poison !== null) {
      if (isCounted) quarantined++
      const dropped = items ?? [UNREADABLE]
      const quantities = dropped.map(({ category, quantity }) => [category, quantity] as const)
      await quarantineEntry(tx, entry, poison, 1, now, quantities)
      for (const { category, quantity } of dropped)
        sums.add({ ...base, category, quantity, outcome: 'dropped', reason: 'quarantine' })
      continue
    }
    for (const item of items ?? []) {
      if ('outcome' in item) {
        sums.add({ ...base, ...item })
        continue
      }
      const due = facts.get(item.kind)
      const one = { item, context: { ...base, orgId } }
      if (due === undefined) facts.set(item.kind, [one])
      else due.push(one)
    }
  }
  let events = 0
  let duplicates = 0
  for (const kind of FACT_KINDS) {
    const due = facts.get(kind)
    if (due === undefined) continue
    const outcomes = await recordKind(recorders, tx, context, kind, due, isBehind)
    for (const [index, { item, context }] of due.entries()) {
      const { outcome, reason } = outcomes?.[index] ?? ACCEPTED
      if (context.orgId !== CANARY_ORG_ID) {
        if (outcome === 'duplicate') duplicates += item.quantity
        else if (kind === 'event') events++
      }
      const { projectId, keyId, receivedAt } = context
      const { category, quantity } = item
      sums.add({ projectId, keyId, receivedAt, category, quantity, outcome, reason })
    }
  }
  sums.write(tx)
  return { entries: counted, events, duplicates, quarantined }
}

/** Counted for an entry that could not be split. */
export const UNREADABLE: Counted = { category: 'default', quantity: 1 }

type Due = { readonly item: PreparedFact; readonly context: ItemContext }

type Recorders = ReturnType<typeof recordersWith>
const RECORDERS = recordersWith(undefined)
const FACT_KINDS = Object.keys(RECORDERS).filter((kind): kind is FactKind => kind in RECORDERS)

function recordKind<K extends FactKind>(
  recorders: Recorders,
  tx: Tx,
  context: FactContext,
  kind: K,
  due: readonly Due[],
  isBehind: boolean,
): Promise<readonly ItemOutcome[] | null> {
  // Safe: `facts` is keyed by the kind of what it holds.
  const facts = due.map(({ item, context }) => ({ fact: item.fact as FactOf<K>, context }))
  return recorders[kind](tx, context, facts, isBehind)
}

/** Records sums of the journal that the database refuses: their issues count too few. */
export const buildSumRefusals = (app: App): Refusals => ({
  isRefusal: mayBlameEntry,
  onDropped: (sums, error) => {
    const about = { project_id: sums?.projectId, group_id: sums?.groupId, events: sums?.events.length }
    app.log.error({ ...about, reason: reasonOf(error) }, 'stored events cannot be counted; their issue counts too few')
  },
})

/**
 * Whether one entry may have caused the error: values the database refuses (SQLSTATE classes 22, 23, 54), a faulty
 * statement (42), or an exception in our own code. Recording entry by entry finds the entry; retrying the batch would
 * block its part for ever.
 */
function mayBlameEntry(error: unknown): boolean {
  if (
    !(error instanceof Error) ||
    error instanceof SpoolFencedError ||
    error instanceof JournalTakenOverError ||
    isDatabaseAway(error)
  )
    return false
  if (!('code' in error)) return true
  const { code } = error
  return typeof code === 'string' && /^(22|23|42|54)/.test(code) && !OTHER_SCHEMA.has(code)
}

/**
 * Errors of a process whose version does not match the schema, during or after an upgrade: a missing column, table,
 * function, type, unique index or permission; a column of another type. These batches are retried.
 */
const OTHER_SCHEMA: ReadonlySet<string> = new Set([
  '42501',
  '42703',
  '42704',
  '42725',
  '42804',
  '42809',
  '42846',
  '42883',
  '42P01',
  '42P10',
])

/** A reason for the operator, without the error's message, which may quote user data. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'An unknown error.'
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const where = error.stack
    ?.split('\n')
    .find((line) => line.includes('/server/') && !line.includes('/server/storage/'))
    ?.replace(/^.*\/server\//, 'server/')
    .replace(/\)$/, '')
  return `${error.name}${code}${where === undefined ? '' : ` at ${where}`}`
}

const ensured = new WeakMap<Database, Set<string>>()

async function ensureDay(db: Database, day: string): Promise<void> {
  const days = ensured.get(db) ?? new Set<string>()
  ensured.set(db, days)
  if (days.has(day)) return
  await ensureDayPartitions(db, RECEIVED_DAY_TABLES, day)
  days.add(day)
}

/**
 * Tables of digestion that are partitioned by the day of receipt (`received_day`). Partitions are created before the
 * first row of their day.
 */
export const RECEIVED_DAY_TABLES: readonly DayTable[] = [
  {
    table: 'events',
    // Bodies of up to 8 kB stay in the row.
    storage: 'toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.5',
    // A sample holds rows with their bodies: 130 MB of memory with the usual 30,000.
    statistics: 25,
  },
  { table: 'event_blocks' },
  { table: 'logs', storage: 'autovacuum_vacuum_insert_scale_factor = 0.5' },
  { table: 'trace_metrics', storage: 'autovacuum_vacuum_insert_scale_factor = 0.5' },
  { table: 'attachments' },
  { table: 'performance_seen' },
  { table: 'trace_parts' },
  { table: 'trace_errors' },
]

type Entries = readonly {
  readonly entry: { readonly projectId: string; readonly receivedAtMs: number }
  readonly items: readonly PreparedItem[] | null
}[]

/**
 * Records the releases that a batch names: events, sessions, transactions. Costs a look-up in memory per fact, and a
 * statement when one of them was not recorded within the last minute.
 * @throws the error of an unreachable database; other errors are logged: no event may be lost because of a release
 */
async function recordBatchSightings(app: App, entries: Entries): Promise<void> {
  const now = app.clock.now()
  const known = knownBy(app)
  try {
    const due = dueOf(entries, known, now)
    if (due.length > 0) await recordSightings(app, known, now, due)
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    app.log.error({ err: error }, 'recording of releases failed; they are recorded with their next event or session')
  }
}

function dueOf(entries: Entries, known: KnownReleases, now: Date): Sighting[] {
  const due: Sighting[] = []
  for (const { entry, items } of entries) {
    for (const item of items ?? []) {
      if ('outcome' in item) continue
      const found = releaseOf(item)
      if (found === null) continue
      const of = { projectId: entry.projectId, ...found }
      if (known.isDue(of, now)) due.push({ ...of, receivedAt: new Date(entry.receivedAtMs) })
    }
  }
  return due
}

/** The release of a fact; null without one, or for kinds that have no release. */
function releaseOf(item: PreparedFact): Pick<Sighting, 'version' | 'kind'> | null {
  switch (item.kind) {
    case 'event':
      return named(item.fact.event.release, 'event')
    case 'session': {
      const { attributes } = 'update' in item.fact ? item.fact.update : item.fact.aggregates
      return named(attributes.release, 'session')
    }
    case 'performance':
      return item.fact.role === 'segment' ? named(item.fact.dimensions?.release ?? null, 'transaction') : null
    default:
      return null
  }
}

const named = (version: string | null, kind: Sighting['kind']) =>
  version === null || version === '' ? null : { version, kind }

const ofDatabase = new WeakMap<Database, KnownReleases>()

function knownBy({ db }: App): KnownReleases {
  const known = ofDatabase.get(db) ?? new KnownReleases()
  ofDatabase.set(db, known)
  return known
}
