import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { paths } from '../../../address/paths.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { codeTexts } from './code-texts.ts'
import { listFixSteps, type FixStep } from './fix-model.ts'
import styles from './code-side.module.css'

const texts = codeTexts.fix

/** How far the fix has come, from the commit to the apps in use; or how a commit says that it fixes the issue. */
export function FixCard({ issue }: { issue: IssueDetail }) {
  const steps = listFixSteps(issue)
  const now = steps.findIndex(({ isDone }) => !isDone)
  if (steps.length === 0) return <NoFix issue={issue} />
  return (
    <Card title={now === -1 ? texts.titleDone : texts.title}>
      <ol className={classNames(fitStyles.loose, fitStyles.inset12)}>
        {steps.map((step, index) => (
          <Step
            key={step.key}
            step={step}
            state={step.isDone ? 'done' : index === now ? 'now' : undefined}
            projectId={issue.project_id}
          />
        ))}
      </ol>
    </Card>
  )
}

function NoFix({ issue: { status, short_id: shortId, code } }: { issue: IssueDetail }) {
  // Without a code host the place of suspect commits offers to connect one.
  if (code.repository_url === null || status === 'resolved') return null
  return (
    <Card title={texts.titleNone}>
      <Minor as="p" className={fitStyles.inset12}>
        {code.known_until === null && code.mentions.length === 0 ? `${texts.noneKnown} ` : null}
        {texts.none} <code className={fitStyles.nowrap}>{texts.example(shortId)}</code>
      </Minor>
    </Card>
  )
}

const ICONS = { change: 'merge', merged: 'merge', released: 'tag', used: 'phone' } as const

type StepProps = { step: FixStep; state: 'done' | 'now' | undefined; projectId: string }

function Step({ step, state, projectId }: StepProps) {
  const { title, link, releaseId, note, at } = step
  const parts: ReactNode[] = []
  if (link !== undefined)
    parts.push(
      <a className={typeStyles.link} href={link.url} rel="noreferrer" target="_blank">
        {link.label}
      </a>,
    )
  if (note != null) parts.push(note)
  if (at != null) parts.push(<Time at={at} as="moment" />)
  return (
    <li
      className={classNames(styles.step, state === undefined ? typeStyles.quiet : undefined)}
      aria-current={state === 'now' ? 'step' : undefined}
    >
      {state === 'done' ? (
        <Icon name="check" label={texts.done} className={typeStyles.green} />
      ) : state === 'now' ? (
        <Icon name="clock" className={typeStyles.amber} />
      ) : (
        <Icon name={ICONS[step.key]} />
      )}
      <span className={fitStyles.breaks}>
        {releaseId === undefined ? (
          title
        ) : (
          <Link className={typeStyles.link} {...paths.release(releaseId, { project: projectId })}>
            {title}
          </Link>
        )}
        {parts.length === 0 ? null : (
          <Minor as="small" className={fitStyles.block}>
            {parts.map((part, index) => (
              <Fragment key={index}>
                {index === 0 ? null : ', '}
                {part}
              </Fragment>
            ))}
          </Minor>
        )}
      </span>
    </li>
  )
}
