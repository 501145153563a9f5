import { useQuery } from '@tanstack/react-query'
import type { Person } from '../issue/changes.ts'
import { teamQuery } from '../../api/people-queries.ts'
import { meQuery } from '../../api/queries.ts'
import { ordered } from './names.ts'

/** The person logged in, and every member, oneself first. @param wanted whether the others are asked for */
export function usePeople(wanted = true): { me: Person | null; people: readonly Person[] } {
  const user = useQuery(meQuery).data?.user
  const team = useQuery({ ...teamQuery(), enabled: wanted }).data?.items ?? []
  const me = user === undefined ? null : { id: user.id, name: user.name, email: user.email }
  const others = ordered(team, undefined).filter(({ id }) => id !== me?.id)
  return { me, people: [...(me === null ? [] : [me]), ...others.map(({ id, name, email }) => ({ id, name, email }))] }
}
