import type { Member } from '../../api/member-queries.ts'

/** Display names and order of members. Pure. */

export type Named = Pick<Member, 'id' | 'name' | 'email'>

/** The name of a member in lists. */
export const displayName = ({ name, email }: Pick<Named, 'name' | 'email'>): string =>
  name.trim() === '' ? email : name

/** Sorts by name, the user first. */
export const ordered = <P extends Named>(members: readonly P[], meId: string | undefined): P[] =>
  members.toSorted(
    (a, b) => Number(b.id === meId) - Number(a.id === meId) || displayName(a).localeCompare(displayName(b)),
  )
