import { projectShard } from './entry.ts'
import { CANARY_PROJECT_NUMBER } from '../../platform/kernel/ids.ts'
import type { App } from '../../platform/context/app.ts'
import { type FileBacklogRow, waitingInFile } from './spool-file.ts'
import {
  type Backlog,
  type OwnBacklog,
  type ProjectBacklog,
  selectBacklog,
  selectBacklogs,
  selectLargestLags,
  selectLateShards,
  selectProjectBacklog,
} from './spool.queries.ts'

/** Requests that wait for digestion, in the table and in the file of this process. The file is read first, see waitingInFile. */

type Waiting = Pick<App, 'db' | 'clock' | 'config'>

/** Maximum projects in `/-/metrics`. */
const MAX_LAGS = 10

const sumsOf = (rows: readonly FileBacklogRow[], now: Date): Omit<Backlog, 'rows'> => ({
  entries: rows.reduce((sum, { entryCount }) => sum + entryCount, 0),
  bytes: rows.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0),
  oldestAgeMs: rows.reduce((age, { receivedAtMs }) => Math.max(age, now.getTime() - receivedAtMs), 0),
})

const add = <T extends Pick<Backlog, 'entries' | 'bytes'>>(to: T, more: Pick<Backlog, 'entries' | 'bytes'>): T => ({
  ...to,
  entries: to.entries + more.entries,
  bytes: to.bytes + more.bytes,
})

/** Entries that wait, without the canary's. */
export async function readBacklog(app: Waiting, now = app.clock.now()): Promise<Backlog> {
  const inFile = waitingInFile(app).filter(({ projectNumber }) => projectNumber !== CANARY_PROJECT_NUMBER)
  const inTable = await selectBacklog(app.db, now)
  const sums = sumsOf(inFile, now)
  return {
    ...add(inTable, sums),
    rows: inTable.rows + inFile.length,
    oldestAgeMs: Math.max(inTable.oldestAgeMs, sums.oldestAgeMs),
  }
}

/** The backlog of each project that has something waiting. */
export async function readBacklogs(app: Waiting): Promise<OwnBacklog[]> {
  const inFile = Map.groupBy(waitingInFile(app), ({ projectNumber }) => projectNumber)
  const own = new Map((await selectBacklogs(app.db)).map((one) => [one.projectNumber, one]))
  for (const [projectNumber, rows] of inFile) {
    const none = { projectNumber, orgId: rows[0]?.orgId ?? '', entries: 0, bytes: 0 }
    own.set(projectNumber, add(own.get(projectNumber) ?? none, sumsOf(rows, app.clock.now())))
  }
  return [...own.values()]
}

/** Entries of a project that wait for digestion; null when none do. */
export async function backlogOfProject(app: Waiting, projectId: string): Promise<ProjectBacklog | null> {
  const inFile = waitingInFile(app).filter((row) => row.projectId === projectId)
  const inTable = await selectProjectBacklog(app.db, projectId, app.clock.now())
  return addToProject(inTable, inFile, app)
}

function addToProject(
  inTable: ProjectBacklog | null,
  inFile: readonly FileBacklogRow[],
  app: Waiting,
): ProjectBacklog | null {
  const [first] = inFile
  if (first === undefined) return inTable
  const sums = sumsOf(inFile, app.clock.now())
  if (inTable === null) return { projectNumber: first.projectNumber, ...sums }
  return { ...add(inTable, sums), oldestAgeMs: Math.max(inTable.oldestAgeMs, sums.oldestAgeMs) }
}

/** The projects whose oldest entry has waited longest. */
export async function largestLags(app: Waiting): Promise<ProjectBacklog[]> {
  const inFile = Map.groupBy(waitingInFile(app), ({ projectNumber }) => projectNumber)
  inFile.delete(CANARY_PROJECT_NUMBER)
  const lags = new Map(
    (await selectLargestLags(app.db, MAX_LAGS, app.clock.now())).map((lag) => [lag.projectNumber, lag]),
  )
  for (const [projectNumber, rows] of inFile) {
    const lag = addToProject(lags.get(projectNumber) ?? null, rows, app)
    if (lag !== null) lags.set(projectNumber, lag)
  }
  return [...lags.values()].sort((a, b) => b.oldestAgeMs - a.oldestAgeMs).slice(0, MAX_LAGS)
}

/** Shards with a project whose oldest entry waits for longer than a time. */
export async function lateShards(app: Waiting, ms: number): Promise<number[]> {
  const before = app.clock.now().getTime() - ms
  const inFile = waitingInFile(app).filter(({ receivedAtMs }) => receivedAtMs < before)
  const inTable = await selectLateShards(app.db, new Date(before))
  return [...new Set([...inTable, ...inFile.map(({ projectNumber }) => projectShard(projectNumber))])]
}
