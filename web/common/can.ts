import { useQuery } from '@tanstack/react-query'
import { meQuery, type Me } from '../api/queries.ts'
import { shared } from './texts.ts'

/** What the dashboard lets people do. The server decides; this only spares them a refusal. */
export type Action =
  | 'issue.change'
  | 'issue.delete'
  | 'issue.comment'
  | 'comment.delete-any'
  | 'release.change'
  | 'project.create'
  | 'project.change'
  | 'project.rotate'

type RoleName = Me['user']['role']

const RANK: Readonly<Record<RoleName, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }

const LEAST: Readonly<Record<Action, RoleName>> = {
  'issue.change': 'member',
  'issue.comment': 'member',
  'issue.delete': 'admin',
  'comment.delete-any': 'admin',
  'release.change': 'member',
  'project.create': 'admin',
  'project.change': 'admin',
  'project.rotate': 'admin',
}

/** Whether the role may do it, and the sentence for a disabled control if not. */
export function can(
  role: RoleName,
  action: Action,
): { allowed: true; why: undefined } | { allowed: false; why: string } {
  const least = LEAST[action]
  return RANK[role] >= RANK[least]
    ? { allowed: true, why: undefined }
    : { allowed: false, why: shared.needsRole(least) }
}

/** The same for the person logged in; until that is known nothing is allowed. */
export function useCan(action: Action) {
  const me = useQuery(meQuery)
  return can(me.data?.user.role ?? 'viewer', action)
}
