/** A tracker of any vendor. Each vendor has one file, which speaks its wire format. */
export type Tracker = {
  /** How members call it. */
  readonly vendor: string
  /**
   * A second call of `create` with the same marker cannot make a second ticket. Otherwise the vendor finds a new ticket
   * only after a while, and no caller may repeat the call before.
   */
  readonly isExact: boolean
  /** Tries the credentials. @throws TrackerError */
  readAccount(): Promise<TrackerAccount>
  /** Teams or projects that can hold tickets, at most 200. @throws TrackerError */
  listTeams(): Promise<TrackerTeam[]>
  /** Kinds of tickets of a team; empty where the vendor has none. @throws TrackerError */
  listTypes(teamId: string): Promise<TicketType[]>
  /** @throws TrackerError */
  create(draft: TicketDraft): Promise<RemoteTicket>
  /** The ticket that an earlier call with the marker made. @throws TrackerError */
  find(marker: string, teamId: string): Promise<RemoteTicket | null>
  /** Null when the ticket was deleted. @throws TrackerError */
  read(externalId: string): Promise<RemoteTicket | null>
  /**
   * Reopens a closed ticket and comments on it, once for each `commentId`.
   * @returns null when the ticket was deleted
   * @throws TrackerError
   */
  reopen(externalId: string, comment: string, commentId: string): Promise<RemoteTicket | null>
  /** The id of the ticket that a delivery of its own webhook is about; null for other deliveries. */
  ticketOf(payload: unknown): string | null
}

export type TrackerAccount = {
  /** As the tracker identifies it. */
  readonly workspace: string
  /** Who acts there. */
  readonly account: string
}
export type TrackerTeam = { readonly id: string; readonly name: string }
export type TicketType = { readonly id: string; readonly name: string }

export type TicketDraft = {
  readonly marker: string
  readonly teamId: string
  readonly typeId: string | null
  readonly title: string
  readonly text: TicketText
}

/** The text of a ticket, which each vendor writes in its own markup. */
export type TicketText = {
  readonly paragraphs: readonly string[]
  readonly facts: readonly (readonly [label: string, value: string])[]
  readonly frames: readonly string[]
  readonly link: { readonly label: string; readonly url: string }
}

export type RemoteTicket = {
  readonly externalId: string
  readonly key: string
  readonly url: string
  readonly isClosed: boolean
  /** As the tracker names it, such as `In Progress`. */
  readonly status: string
}

/** A marker as one word, by which a search finds the ticket. */
export const writeReference = (marker: string): string => `faultline-${marker.replaceAll('-', '')}`
