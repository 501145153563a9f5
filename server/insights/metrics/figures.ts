/** Sessions of a range or bucket, as the metrics need them. */
export type SessionFigures = {
  readonly sessions: number
  readonly crashed: number
  /** With an unhandled error that did not count as a crash. */
  readonly unhandled: number
  readonly anr_foreground: number
  readonly anr_background: number
  /** Distinct users of sessions that name their user, and those of them with such a session. */
  readonly users: number
  readonly crashed_users: number
  readonly anr_foreground_users: number
  readonly anr_background_users: number
}

/** Stored error events of a range or bucket. */
export type EventFigures = {
  readonly events: number
  readonly critical: number
  readonly users: number
  /** Users with an event that is a crash, or an ANR in the foreground. */
  readonly crashed_users: number
  readonly anr_users: number
}

export const NO_SESSIONS: SessionFigures = {
  sessions: 0,
  crashed: 0,
  unhandled: 0,
  anr_foreground: 0,
  anr_background: 0,
  users: 0,
  crashed_users: 0,
  anr_foreground_users: 0,
  anr_background_users: 0,
}

export const NO_EVENTS: EventFigures = { events: 0, critical: 0, users: 0, crashed_users: 0, anr_users: 0 }

/** A share; null, not 0, of nothing. */
export const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)

export type By = 'sessions' | 'users'

export const crashRate = (of: SessionFigures, by: By): number | null =>
  by === 'users' ? share(of.crashed_users, of.users) : share(of.crashed, of.sessions)

/**
 * Users of sessions that ended with an ANR. Sketches keep a user whose session crashed after the hang, but a session has
 * one user: there are at most as many users as such sessions.
 */
export const anrUsers = (of: Pick<SessionFigures, 'anr_foreground' | 'anr_foreground_users'>): number =>
  Math.min(of.anr_foreground_users, of.anr_foreground)

const backgroundAnrUsers = (of: SessionFigures): number => Math.min(of.anr_background_users, of.anr_background)

/** ANRs in the foreground: those that users see, and that stores count. */
export const anrRate = (of: SessionFigures, by: By): number | null =>
  by === 'users' ? share(anrUsers(of), of.users) : share(of.anr_foreground, of.sessions)

export const backgroundAnrRate = (of: SessionFigures, by: By): number | null =>
  by === 'users' ? share(backgroundAnrUsers(of), of.users) : share(of.anr_background, of.sessions)
