import { Spinner } from '../../../ui/spinner.tsx'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { errorSentence } from '../../../api/change.ts'
import type { AnswerOf } from '../../../api/call.ts'
import type { Project, ProjectSettings } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { formatAge, formatDuration } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { useNow } from '../../../ui/now.ts'
import { Stack } from '../../../ui/stack.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { FieldHint } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Severity } from '../../../ui/status.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { onboardingTexts } from './texts.ts'
import { askIntake, partsOfDsn, sendTestEvent } from './test-event.ts'
import styles from './wait.module.css'
import typeStyles from '../../../ui/type.module.css'

type Issue = AnswerOf<'GET /api/issues'>['items'][number]

const texts = onboardingTexts.wait
const HINTS_AFTER_MS = 30_000

type WaitCardProps = {
  project: Project
  dsn: string
  /** The project key, once loaded. */
  keyInUse: ProjectSettings['keys'][number] | null
  /** The last request that was refused because of its key. */
  refusal: ProjectSettings['last_key_refusal']
  /** The issue of the first event, once it arrived. */
  issue: Issue | null
  /** Items that could not be read. */
  invalid: number
  waitedMs: number
}

export function WaitCard({ project, issue, ...waiting }: WaitCardProps) {
  return (
    <aside className={styles.wait} aria-label={issue === null ? texts.heading : onboardingTexts.arrived.heading}>
      {/* Announces the first event; the seconds are outside of it. */}
      <p className={typeStyles.hidden} role="status">
        {issue === null ? '' : onboardingTexts.arrived.heading}
      </p>
      {issue === null ? <Waiting project={project} {...waiting} /> : <Arrived project={project} issue={issue} />}
    </aside>
  )
}

function Waiting({ project, dsn, keyInUse, refusal, invalid, waitedMs }: Omit<WaitCardProps, 'issue'>) {
  const now = useNow('second')
  const intake = useQuery({
    queryKey: ['intake-answers', dsn],
    queryFn: () => askIntake(dsn),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { quiet: true },
  })
  const test = useMutation({ mutationFn: () => sendTestEvent(dsn) })
  const [opened, setOpened] = useState<boolean | null>(null)
  const hintsOpen = opened ?? waitedMs >= HINTS_AFTER_MS
  return (
    <>
      <div className={styles.head}>
        <Seismograph spike={false} />
        <h2>{texts.heading}</h2>
        <Minor as="p" className={typeStyles.figures}>
          {texts.passed(formatDuration(Math.max(0, Math.floor(waitedMs / 1000)) * 1000))}
        </Minor>
      </div>
      <ul className={classNames(styles.checks, fitStyles.loose)}>
        <Check
          done={keyInUse !== null}
          title={texts.dsnActive}
          more={keyInUse === null ? '' : texts.dsnCreated(formatAge(keyInUse.created_at, now))}
        />
        <IntakeCheck answer={intake.data} silent={intake.error !== null} />
        {keyInUse?.last_seen_at == null ? (
          <Check done={false} title={texts.noRequest} more={texts.noRequestMore} />
        ) : (
          <Check done title={texts.request} more={texts.requestMore(formatAge(keyInUse.last_seen_at, now))} />
        )}
        {refusal === null || refusal.at <= (keyInUse?.last_seen_at ?? '') ? null : (
          <Check
            done={false}
            icon={<Icon name="warn" className={typeStyles.amber} />}
            title={texts.refused[refusal.reason]}
            more={(refusal.reason === 'unreadable' ? texts.unreadableMore : texts.refusedMore)(
              formatAge(refusal.at, now),
            )}
          />
        )}
        {invalid === 0 ? null : (
          <Check
            done={false}
            icon={<Icon name="warn" className={typeStyles.amber} />}
            title={
              <Link {...paths.intake({ project: project.id })} className={typeStyles.link}>
                {texts.invalid(invalid)}
              </Link>
            }
            more={invalid === 1 ? texts.invalidMore : texts.invalidManyMore}
          />
        )}
      </ul>
      <div className={styles.actions}>
        <Button icon="bolt" size="lg" busy={test.isPending} onClick={() => test.mutate()}>
          {texts.test}
        </Button>
        <FieldHint bad={test.isError} role="status">
          {test.isError
            ? `${texts.testRefused} ${test.error instanceof Error ? test.error.message : errorSentence(test.error)}`
            : test.isSuccess
              ? texts.testSent
              : texts.testHint}
        </FieldHint>
      </div>
      <details
        className={styles.more}
        open={hintsOpen}
        onToggle={(event) => setOpened(event.currentTarget.open === hintsOpen ? opened : event.currentTarget.open)}
      >
        <summary>
          <DisclosureIcon />
          {texts.nothing}
        </summary>
        <ul>
          {texts.hints(partsOfDsn(dsn).host).map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      </details>
    </>
  )
}

type IntakeAnswer = Awaited<ReturnType<typeof askIntake>>

function IntakeCheck({ answer, silent }: { answer: IntakeAnswer | undefined; silent: boolean }) {
  if (answer?.ok === true)
    return <Check done title={texts.intakeAnswers} more={texts.intakeIn(formatDuration(answer.durationMs))} />
  if (answer === undefined && !silent) return <Check done={false} title={texts.intakeChecking} more="" />
  return (
    <Check
      done={false}
      icon={<Icon name="warn" className={typeStyles.amber} />}
      title={texts.intakeSilent}
      more={texts.intakeSilentMore(answer === undefined ? 'no answer' : `status ${answer.status}`)}
    />
  )
}

function Check({ done, title, more, icon }: { done: boolean; title: ReactNode; more: string; icon?: ReactNode }) {
  return (
    <li>
      {icon ?? (done ? <Icon name="check" className={typeStyles.green} /> : <Spinner />)}
      <span>
        <b>{title}</b>
        <small className={typeStyles.quiet}>{more}</small>
      </span>
    </li>
  )
}

function Arrived({ project, issue }: { project: Project; issue: Issue }) {
  return (
    <>
      <div className={styles.head}>
        <Seismograph spike />
        <h2>{onboardingTexts.arrived.heading}</h2>
        <Minor as="p" className={typeStyles.figures}>
          {project.name}
        </Minor>
      </div>
      <div className={styles.event}>
        <p className={classNames(styles.title, typeStyles.soft, fitStyles.breaks)}>
          <b>{issue.type ?? issue.title}</b> {issue.type === null ? '' : (issue.value ?? '')}
        </p>
        <Minor as="p">
          <PlatformTile platform={issue.platform} kind={project.platform} />
          <ShortId>{issue.short_id}</ShortId>
          <Severity severity={issue.severity} />
          {issue.is_unhandled ? <Badge tone="red">unhandled</Badge> : null}
        </Minor>
        {issue.culprit === '' ? null : (
          <Minor as="p" className={typeStyles.mono}>
            {issue.culprit}
          </Minor>
        )}
      </div>
      <Stack className={styles.actions}>
        <Link {...paths.issue(issue.id, { project: project.id })} {...buttonLook({ look: 'primary', size: 'lg' })}>
          <span>{onboardingTexts.arrived.open}</span>
        </Link>
        <Link {...paths.issues({ project: project.id })} {...buttonLook({ look: 'ghost', size: 'lg' })}>
          <span>{onboardingTexts.arrived.stream}</span>
        </Link>
      </Stack>
    </>
  )
}

const CALM = 'M0 54H38l3-4 4 8 3-5 2 1h60l4-8 4 16 4-11 2 3h64l3-3 3 5 2-2H232'
const QUAKE = 'M0 54H38l3-4 4 8 3-5 2 1h60l4-8 4 16 4-11 2 3h34l5-16 7 46 8-64 8 58 6-34 5 14 4-4H336'

/** A line that moves while waiting and has a peak when the event arrives. */
function Seismograph({ spike }: { spike: boolean }) {
  return (
    <svg className={styles.seismograph} viewBox="0 0 336 108" aria-hidden="true" preserveAspectRatio="xMidYMid slice">
      <path
        className={styles.grid}
        d="M0 27H336M0 54H336M0 81H336M48 0V108M96 0V108M144 0V108M192 0V108M240 0V108M288 0V108"
      />
      <path
        className={spike ? `${styles.line} ${styles.spike}` : styles.line}
        pathLength={1}
        d={spike ? QUAKE : CALM}
      />
      {spike ? null : (
        <>
          <circle className={styles.ring} cx="232" cy="54" r="9" />
          <circle className={styles.dot} cx="232" cy="54" r="4" />
        </>
      )}
    </svg>
  )
}
