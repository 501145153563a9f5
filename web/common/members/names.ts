import type { Member } from '../../api/member-queries.ts'

/** How members are called, and in which order they stand. Pure. */

export type Named = Pick<Member, 'id' | 'name' | 'email'>

/** How people are called in lists. */
export const displayName = ({ name, email }: Pick<Named, 'name' | 'email'>): string =>
  name.trim() === '' ? email : name

/** Oneself first, then by name. */
export const ordered = <P extends Named>(members: readonly P[], meId: string | undefined): P[] =>
  members.toSorted(
    (a, b) => Number(b.id === meId) - Number(a.id === meId) || displayName(a).localeCompare(displayName(b)),
  )
