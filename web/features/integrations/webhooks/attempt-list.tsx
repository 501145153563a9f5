import type { WebhookAttempt, WebhookDeliveryDetail } from '../../../api/webhook-queries.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { formatDuration, formatExact, formatMark } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import {
  attemptAnswer,
  isGood,
  otherAttempts,
  scheduleRows,
  SCHEDULED_ATTEMPTS,
  shortLeft,
  type ScheduleRow,
} from './model.ts'
import { webhooksTexts } from './texts.ts'
import styles from './attempt-list.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.detail

type AttemptListProps = {
  delivery: WebhookDeliveryDetail
  isPaused: boolean
  /** The attempt whose answer is shown. */
  chosenN: number | null
  onChoose: (n: number) => void
}

/** The six attempts of the schedule, then the replays. Made attempts can be chosen to see their answers. */
export function AttemptList({ delivery, isPaused, chosenN, onChoose }: AttemptListProps) {
  const others = otherAttempts(delivery)
  return (
    <>
      <ol className={styles.list} aria-label={texts.attempts}>
        {scheduleRows(delivery).map((row) => (
          <li key={row.n} data-state={row.state}>
            {row.attempt === null ? (
              <span className={styles.row}>
                <b>{row.n}</b>
                <span>
                  {row.delay}
                  {row.n === SCHEDULED_ATTEMPTS ? `, ${texts.last}` : null}
                  {row.state === 'next' && delivery.next_attempt_at !== null ? (
                    <Until at={delivery.next_attempt_at} isPaused={isPaused} />
                  ) : null}
                </span>
                <Pending row={row} isPaused={isPaused} />
              </span>
            ) : (
              <Made
                mark={String(row.n)}
                text={row.delay}
                attempt={row.attempt}
                isChosen={row.attempt.n === chosenN}
                onChoose={onChoose}
              />
            )}
          </li>
        ))}
      </ol>
      {others.length === 0 ? null : (
        <>
          <h3>{texts.others}</h3>
          <ul className={styles.list} aria-label={texts.others}>
            {others.map((attempt) => (
              <li key={attempt.n} data-state={isGood(attempt) ? 'delivered' : 'failed'}>
                <Made
                  mark={attempt.trigger === 'replay' ? 'R' : 'E'}
                  text={attempt.trigger === 'replay' ? texts.replayed : texts.earlier}
                  attempt={attempt}
                  isChosen={attempt.n === chosenN}
                  onChoose={onChoose}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

type MadeProps = {
  mark: string
  text: string
  attempt: WebhookAttempt
  isChosen: boolean
  onChoose: (n: number) => void
}

function Made({ mark, text, attempt, isChosen, onChoose }: MadeProps) {
  const answer = attemptAnswer(attempt.status, attempt.error_code)
  return (
    <button
      type="button"
      className={classNames(styles.row, choiceStyles.hovers, choiceStyles.pressed)}
      aria-pressed={isChosen}
      title={formatExact(attempt.started_at)}
      onClick={() => onChoose(attempt.n)}
    >
      <b>{mark}</b>
      <span>
        {text} <small>{formatMark(attempt.started_at)}</small>
      </span>
      <span className={typeStyles.figures}>
        {answer === null ? null : (
          <span className={classNames(typeStyles.mono, answer.isGood ? typeStyles.green : typeStyles.red)}>
            {answer.text}
          </span>
        )}{' '}
        {formatDuration(attempt.duration_ms)}
      </span>
    </button>
  )
}

/** When the next attempt is made; a paused endpoint makes none. */
function Until({ at, isPaused }: { at: string; isPaused: boolean }) {
  const now = useNow('second')
  if (isPaused) return null
  return (
    <small title={formatExact(at)}>
      {' '}
      {formatMark(at, now)}
      {Date.parse(at) > now ? `, ${texts.inTime(shortLeft(at, now))}` : null}
    </small>
  )
}

function Pending({ row, isPaused }: { row: ScheduleRow; isPaused: boolean }) {
  if (row.state === 'flying') return <span className={typeStyles.blue}>{texts.sending}</span>
  if (row.state !== 'next') return null
  return <span className={typeStyles.quiet}>{isPaused ? texts.pausedMark : texts.waitingMark}</span>
}
