/** The counts. They are the same for sessions and for stored events, as far as both have them. */
export const COUNTS = [
  'total',
  /** Sessions: disjoint classes with `unhandled`, `abnormal` and `crashed`; sessions in none of them are healthy. */
  'errored',
  'unhandled',
  'abnormal',
  'crashed',
  'anr_foreground',
  'anr_background',
  /** Events of the most urgent kind: crashes and hangs of apps. */
  'critical',
] as const
export type Count = (typeof COUNTS)[number]
export type Counts = Record<Count, number>

export const noCounts = (): Counts => ({
  total: 0,
  errored: 0,
  unhandled: 0,
  abnormal: 0,
  crashed: 0,
  anr_foreground: 0,
  anr_background: 0,
  critical: 0,
})

/** Distinct users, each set with a sketch. Sketches only grow. */
export const USER_SETS = ['users', 'unhandled_users', 'crashed_users', 'anr_users', 'anr_foreground_users'] as const
export type UserSet = (typeof USER_SETS)[number]

/** The column with what a set's sketch counts. */
export const countColumn = <S extends UserSet>(set: S): `${S}_count` => `${set}_count`

/** The data that rollups count: sessions by their start, or stored events by their time. */
export const SOURCES = ['sessions', 'events'] as const
export type Source = (typeof SOURCES)[number]
export const sourceNumber = (source: Source): number => SOURCES.indexOf(source)
