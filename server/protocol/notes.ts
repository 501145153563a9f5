import { tidy } from './strings.ts'

/** What normalisation dropped or mended: shown with the event, so that nothing vanishes silently. */
export type Note = { name: string; reason: string }

const MAX_NOTES = 50

export class Notes {
  readonly list: Note[] = []

  /** `name` is the field as a path (`user.id`), `reason` a short sentence. Beyond 50 notes nothing is added. */
  add(name: string, reason: string): void {
    if (this.list.length < MAX_NOTES) this.list.push({ name: tidy(name, 200), reason: tidy(reason, 200) })
  }
}
