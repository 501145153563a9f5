import type { Connection } from '../../platform/storage/database.ts'
import { issuesOfFingerprints, type LinkedIssue } from './anr-causes.queries.ts'
import type { Performance } from './performance.api.ts'
import type { Question } from './question.ts'
import { readPerformanceBy, spreadIn, type NamedPerformance } from './read-performance.ts'

type Cause = NonNullable<Performance['anr_causes']>[number]

/**
 * Reads the calls that blocked the main thread, most frequent first. An ANR is counted under its blocking call as name
 * and its fingerprint as op (anr-fact.ts).
 */
export async function readAnrCauses(db: Connection, now: Question['now'], max: number): Promise<Cause[]> {
  const found = await readPerformanceBy(db, { ...now, metrics: ['anr', 'anr_wait'] }, 'name')
  const countOf = ({ metrics }: NamedPerformance): number => spreadIn(metrics, 'anr').count
  const total = found.reduce((sum, one) => sum + countOf(one), 0)
  const calls = [...Map.groupBy(found, ({ name }) => name)].map(([call, groups]) => ({
    call,
    count: groups.reduce((sum, one) => sum + countOf(one), 0),
    waits: groups.flatMap(({ metrics }) => spreadIn(metrics, 'anr_wait').max ?? []),
    fingerprints: groups.toSorted((a, b) => countOf(b) - countOf(a)).map(({ op }) => op),
  }))
  const top = calls
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.call < b.call ? -1 : 1))
    .slice(0, max)
  const hashes = top.flatMap(({ fingerprints }) => fingerprints)
  const issues =
    hashes.length === 0 ? new Map<string, LinkedIssue>() : await issuesOfFingerprints(db, now.projectIds, hashes)
  return top.map(({ call, count, waits, fingerprints }) => {
    const issue = fingerprints.map((hash) => issues.get(hash)).find((one) => one !== undefined)
    return {
      call,
      count,
      share: count / total,
      longest_ms: waits.length === 0 ? null : Math.max(...waits),
      issue_id: issue?.id ?? null,
      short_id: issue?.shortId ?? null,
    }
  })
}
