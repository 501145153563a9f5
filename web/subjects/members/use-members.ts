import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../../api/queries.ts'
import { teamQuery, type Member } from '../../api/member-queries.ts'
import { ordered } from './names.ts'
import { matchesMember } from './model.ts'

/** Members that match the typed text, the user first. In organisations of more than 100 members the server searches. */
export function useMembers(typed: string | null): {
  me: string | undefined
  members: readonly Member[]
  all: readonly Member[]
  /** Whether `members` is the result for the typed text, not for an earlier one. */
  known: boolean
} {
  const mine = useQuery(meQuery)
  const me = mine.data?.user.id
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
    known: !mine.isPending && !first.isPending && !(isLarge && text !== '' && found.isPending),
    members: ordered(
      members.filter((member) => matchesMember(member, typed ?? '')),
      me,
    ),
  }
}
