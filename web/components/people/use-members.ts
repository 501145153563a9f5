import { useQuery } from '@tanstack/react-query'
import type { Person } from '../../api/issue-changes.ts'
import { meQuery } from '../../api/queries.ts'
import { teamQuery, type Member } from '../../api/people-queries.ts'
import { isMeant, ordered } from './members-model.ts'

/**
 * Members meant by what was typed, oneself first. Filtered here while all of them are known; of a large organisation
 * the server is asked.
 */
export function useMembers(typed: string | null): {
  me: string | undefined
  members: readonly Member[]
  all: readonly Member[]
} {
  const me = useQuery(meQuery).data?.user.id
  const wanted = typed !== null
  const first = useQuery({ ...teamQuery(), enabled: wanted })
  const all = first.data?.items ?? []
  const isLarge = first.data !== undefined && first.data.total > all.length
  const text = (typed ?? '').trim()
  const found = useQuery({ ...teamQuery(text), enabled: wanted && isLarge && text !== '' })
  const members = isLarge && text !== '' ? (found.data?.items ?? []) : all
  return {
    me,
    all,
    members: ordered(
      members.filter((member) => isMeant(member, typed ?? '')),
      me,
    ),
  }
}

/** The person logged in, and every member, oneself first. @param wanted whether the others are asked for */
export function usePeople(wanted = true): { me: Person | null; people: readonly Person[] } {
  const user = useQuery(meQuery).data?.user
  const team = useQuery({ ...teamQuery(), enabled: wanted }).data?.items ?? []
  const me = user === undefined ? null : { id: user.id, name: user.name, email: user.email }
  const others = ordered(team, undefined).filter(({ id }) => id !== me?.id)
  return { me, people: [...(me === null ? [] : [me]), ...others.map(({ id, name, email }) => ({ id, name, email }))] }
}
