/** An advisory that does not concern us, or not yet. */
export type Accepted = {
  /** `GHSA-xxxx-xxxx-xxxx`. */
  readonly id: string
  readonly package: string
  /** Why it cannot be used against Faultline or its users, or what we wait for. */
  readonly why: string
  /** Day from which `npm run advisories` fails again, at most half a year ahead: `2027-01-31`. */
  readonly until: string
}

/** Read by `npm run advisories`. A line without an advisory is refused, so that the list says what is true. */
export const acceptedAdvisories: readonly Accepted[] = []
