import { errorSentence } from '../api/change.ts'
import { Note } from '../ui/note.tsx'

type ErrorNoteProps = {
  /** Nothing is shown for null. */
  error: Error | null
  /** Starts the note, such as "Could not save." */
  before?: string
  /** Labels of the fields, by their names in the API. */
  labels?: Readonly<Record<string, string>>
}

/** Why an attempt failed, where no field can say it. */
export const ErrorNote = ({ error, before, labels }: ErrorNoteProps) =>
  error === null ? null : (
    <Note tone="red" icon="warn" role="alert">
      {before === undefined ? null : `${before} `}
      {errorSentence(error, labels)}
    </Note>
  )
