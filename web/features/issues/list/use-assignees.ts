import { useQuery } from '@tanstack/react-query'
import type { Assignee } from '../../../subjects/issue/changes.ts'
import { teamQuery } from '../../../api/member-queries.ts'
import { meQuery } from '../../../api/queries.ts'
import { ordered } from '../../../subjects/members/names.ts'

/**
 * The logged-in user, and all members that an issue can be assigned to, the user first.
 * @param withMembers false loads only the user
 */
export function useAssignees(withMembers = true): { me: Assignee | null; assignees: readonly Assignee[] } {
  const user = useQuery(meQuery).data?.user
  const team = useQuery({ ...teamQuery(), enabled: withMembers }).data?.items ?? []
  const me = user === undefined ? null : { id: user.id, name: user.name, email: user.email }
  const others = ordered(team, undefined).filter(({ id }) => id !== me?.id)
  return {
    me,
    assignees: [...(me === null ? [] : [me]), ...others.map(({ id, name, email }) => ({ id, name, email }))],
  }
}
