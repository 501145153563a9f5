import { ErrorNote } from '../../../forms/error-note.tsx'
import { useMutation } from '@tanstack/react-query'
import { call, type AnswerOf } from '../../../api/call.ts'
import { formatCount } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { auditTexts as texts } from './texts.ts'

type Verification = AnswerOf<'GET /api/audit-log/verify'>

/** Asks the service to recompute the chain; it reads the whole log, so only on a press. */
export const useVerification = () => useMutation({ mutationFn: () => call('GET /api/audit-log/verify') })

/** Whether the chain is whole; where not, the first entry that is wrong and why. */
export function VerificationNote({ result, error }: { result: Verification | undefined; error: Error | null }) {
  if (error !== null) return <ErrorNote error={error} before={texts.notVerified} />
  if (result === undefined) return null
  if (!result.ok)
    return (
      <Note tone="red" icon="warn" role="alert">
        <b>{texts.broken(result.first_bad_seq === null ? null : formatCount(result.first_bad_seq))}</b>
        {result.reason === null ? null : <Minor as="p">{result.reason}</Minor>}
      </Note>
    )
  return (
    <Note tone="green" icon="check" role="status">
      {result.first_seq === null || result.last_seq === null
        ? texts.verifiedEmpty
        : texts.verified(
            formatCount(result.entries),
            formatCount(result.first_seq),
            formatCount(result.last_seq),
            result.checked_heads,
          )}
      {result.warnings.map((warning) => (
        <Minor as="p" key={warning}>
          {warning}
        </Minor>
      ))}
    </Note>
  )
}
