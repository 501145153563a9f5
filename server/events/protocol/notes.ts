import { tidy } from './strings.ts'

/** A value that normalisation dropped or corrected; shown with the event. */
export type Note = { name: string; reason: string }

const MAX_NOTES = 50

export class Notes {
  readonly list: Note[] = []

  /** @param name the field as a path (`user.id`). Adds at most 50 notes */
  add(name: string, reason: string): void {
    if (this.list.length < MAX_NOTES) this.list.push({ name: tidy(name, 200), reason: tidy(reason, 200) })
  }
}
