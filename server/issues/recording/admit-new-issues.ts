import { createHash } from 'node:crypto'
import { newIssuesAt } from '../../projects/registry/general-settings.ts'
import { type IssueNumbers, lockIssueNumbers } from '../../projects/registry/recording.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Occurrence, SameFingerprint } from './occurrence.ts'

/** Events of further fingerprints of a project, as events of one fingerprint. */
export type Overflow = SameFingerprint & { readonly originals: readonly Occurrence[] }

/** Which fingerprints create an issue, and the number after which theirs begin. */
export type Admission = {
  readonly admitted: readonly SameFingerprint[]
  readonly overflow: readonly Overflow[]
  readonly numbers: ReadonlyMap<string, IssueNumbers>
}

/**
 * Divides unknown fingerprints by the budget of their projects, in the order of the batch: an app whose every event has
 * another fingerprint must not fill the list and the database with issues. What is beyond the budget goes to one issue of
 * the project, where it is counted; such a fingerprint is unknown again at its next event.
 */
export async function admitNewIssues(tx: Tx, now: Date, unknown: readonly SameFingerprint[]): Promise<Admission> {
  const byProject = Map.groupBy(unknown, ({ projectId }) => projectId)
  const numbers = new Map<string, IssueNumbers>()
  if (unknown.length === 0) return { admitted: [], overflow: [], numbers }
  const admitted: SameFingerprint[] = []
  const overflow: Overflow[] = []
  for (const row of await lockIssueNumbers(tx, [...byProject.keys()].sort())) {
    const ofProject = byProject.get(row.id) ?? []
    const known = newIssuesAt(row, now)
    const { perHour, perDay } = ofProject[0]?.first.newIssueBudget ?? { perHour: 0, perDay: 0 }
    const free = Math.max(0, Math.min(left(perHour, known.inHour), left(perDay, known.inDay)))
    const taken = Math.min(free, ofProject.length)
    admitted.push(...ofProject.slice(0, taken))
    const others = ofProject.slice(taken)
    if (others.length > 0) overflow.push(overflowOf(others))
    numbers.set(row.id, { ...known, inHour: known.inHour + taken, inDay: known.inDay + taken })
  }
  return { admitted, overflow, numbers }
}

const left = (budget: number, used: number): number => (budget === 0 ? Infinity : budget - used)

export const OVERFLOW_TITLE = 'Too many new issues'
const OVERFLOW_CULPRIT = 'events of unknown kinds, beyond the budget of new issues'
const OVERFLOW_HASH = createHash('sha256').update('faultline: events beyond the budget of new issues').digest()

/** Events of several fingerprints as those of the one that collects them. */
function overflowOf(fingerprints: readonly SameFingerprint[]): Overflow {
  const originals = fingerprints.flatMap((one) => one.occurrences)
  const occurrences = originals.map(collected)
  const [first] = occurrences
  if (first === undefined) throw new Error('no events of a fingerprint')
  const { projectId } = first.event
  return {
    key: projectId + OVERFLOW_HASH.toString('base64'),
    projectId,
    orgId: first.orgId,
    first,
    occurrences,
    originals,
  }
}

const collected = (one: Occurrence): Occurrence => ({
  ...one,
  fingerprint: {
    version: one.fingerprint.version,
    hash: OVERFLOW_HASH,
    parts: [{ variant: 'new_issue_budget', values: [] }],
  },
  formerHash: null,
  title: OVERFLOW_TITLE,
  culprit: OVERFLOW_CULPRIT,
  errorType: null,
  errorValue: null,
  ownershipMatches: null,
})
