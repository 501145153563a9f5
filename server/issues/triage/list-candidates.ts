import { membersAmong } from '../../identity/team/members.queries.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { compileOwnership, ruleLabel } from '../ownership/ownership.ts'
import { ownershipRules, repositoryOwners } from '../ownership/ownership-settings.ts'
import type { SuspectCommit } from './issue-code.api.ts'
import type { Activity, Candidate } from './issues.api.ts'

const MAX_CANDIDATES = 5
/** Ownership rules that are shown: the one that decides, and the next. */
const MAX_RULES = 2

type Sources = {
  /** With its frames marked by the stack rules. */
  readonly event: Event | null
  readonly settings: unknown
  readonly suspects: readonly SuspectCommit[]
  /** Newest first. */
  readonly activity: readonly Activity[]
}

type Reason = Candidate['reasons'][number]
type Found = { readonly userId: string | null; readonly team: string | null; readonly reason: Reason }

/**
 * Members and teams who could take an issue, each with all its reasons: the author of the likeliest commit, owners of the
 * code, who resolved the issue before, authors of other suspect commits. Only current members.
 */
export async function listCandidates(
  app: App,
  actor: OrgActor,
  { event, settings, suspects, activity }: Sources,
): Promise<Candidate[]> {
  const authors = suspects.flatMap(({ member, sha }, index) =>
    member === null
      ? []
      : [{ userId: member.id, team: null, reason: { kind: 'suspect' as const, sha, rank: index + 1 } }],
  )
  const rules = ownershipRules(settings)
  // Rules of the repository come first.
  const ofRepository = new Set(rules.slice(0, repositoryOwners(settings).length))
  const owners = (event === null ? [] : (compileOwnership(rules)?.(event)() ?? [])).map(({ rule }): Found => {
    const reason: Reason = ofRepository.has(rule)
      ? { kind: 'codeowners', rule: rule.glob }
      : { kind: 'ownership_rule', rule: ruleLabel(rule) }
    return { userId: rule.user_id, team: rule.team, reason }
  })
  const resolvers = activity.flatMap(({ kind, actor: by, data, created_at: at }): Found[] =>
    kind === 'status_changed' && data['to'] === 'resolved' && by !== null
      ? [{ userId: by.id, team: null, reason: { kind: 'resolved_before', at } }]
      : [],
  )
  const members = await membersAmong(
    app.db,
    actor.orgId,
    [...authors, ...owners, ...resolvers].flatMap(({ userId }) => userId ?? []),
  )
  const isThere = ({ userId, team }: Found): boolean => team !== null || (userId !== null && members.has(userId))
  const found: readonly Found[] = [
    ...authors.filter(({ reason }) => reason.rank === 1),
    // A rule of a former member decides nothing.
    ...owners.filter(isThere).slice(0, MAX_RULES),
    ...resolvers,
    ...authors.filter(({ reason }) => reason.rank > 1),
  ]
  const candidates = new Map<string, Candidate & { reasons: Reason[] }>()
  for (const { userId, team, reason } of found) {
    const person = userId === null ? null : members.get(userId)
    if (person === undefined || (person === null && team === null)) continue
    const key = person?.id ?? `team ${team}`
    const known = candidates.get(key)
    if (known === undefined)
      candidates.set(key, {
        person: person === null ? null : { id: person.id, name: person.name, email: person.email },
        team,
        reasons: [reason],
      })
    // The newest of each kind.
    else if (!known.reasons.some(({ kind }) => kind === reason.kind)) known.reasons.push(reason)
  }
  return [...candidates.values()].slice(0, MAX_CANDIDATES)
}
