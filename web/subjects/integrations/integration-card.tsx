import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import narrowStyles from '../../ui/narrow.module.css'
import { Spacer } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import typeStyles from '../../ui/type.module.css'
import { integrationsTexts as texts } from './texts.ts'
import styles from './integration-card.module.css'

export type IntegrationState = 'works' | 'slowed_down' | 'broken' | 'not_connected'

const LOOKS: Readonly<Record<IntegrationState, { icon: IconName; tone: string | undefined }>> = {
  works: { icon: 'check', tone: typeStyles.green },
  slowed_down: { icon: 'clock', tone: typeStyles.amber },
  broken: { icon: 'warn', tone: typeStyles.red },
  not_connected: { icon: 'stop', tone: typeStyles.slate },
}

/** The state of a connection: icon, word and colour. */
export const IntegrationMark = ({ state }: { state: IntegrationState }) => (
  <span className={classNames(styles.state, fitStyles.icons13, LOOKS[state].tone)}>
    <Icon name={LOOKS[state].icon} />
    {texts.states[state]}
  </span>
)

type IntegrationCardProps = {
  /** The name of the other system. */
  title: string
  /** Its kind and place, after the name. */
  about: string
  state: IntegrationState
  /** Buttons at the end of the head. */
  actions?: ReactNode
  /** Steps that mend it, with the field that they need; while it is broken or not connected. */
  toDo?: ReactNode
  /** Beside the facts, where there is room. */
  aside?: ReactNode
  /** Facts: a `div` with `dt` and `dd` for each. */
  facts?: ReactNode
  /** Below the facts, such as switches. */
  children?: ReactNode
}

/** The frame of one connection of a project: its state, its facts, and the way to mend it. */
export function IntegrationCard({ title, about, state, actions, toDo, aside, facts, children }: IntegrationCardProps) {
  return (
    <Card
      className={styles.card}
      data-state={state}
      title={
        <>
          <span className={styles.letter} aria-hidden>
            {title.slice(0, 1)}
          </span>
          {title}
        </>
      }
      header={
        <>
          <Minor className={fitStyles.ellipsis}>{about}</Minor>
          <Spacer />
          <IntegrationMark state={state} />
          {actions}
        </>
      }
    >
      {facts === undefined && aside === undefined ? null : (
        <div
          className={classNames(styles.body, narrowStyles.oneColumnAt924)}
          data-split={aside === undefined ? undefined : ''}
        >
          <KeyValues className={styles.facts}>{facts}</KeyValues>
          {aside}
        </div>
      )}
      {children}
      {toDo === undefined ? null : (
        <div className={styles.toDo}>
          <h3 className={classNames(typeStyles.meta, typeStyles.medium)}>{texts.toDo}</h3>
          {toDo}
        </div>
      )}
    </Card>
  )
}

type HappenedProps = { name: string; text: string | null; at: string | null; bad?: boolean }

/** A fact with its time: last received, last sent, last error. Absent when it never happened. */
export const Happened = ({ name, text, at, bad = false }: HappenedProps) =>
  at === null ? null : (
    <div>
      <dt>{name}</dt>
      <dd className={bad ? typeStyles.red : undefined}>
        {text === null ? null : `${text}, `}
        <Time at={at} as="moment" />
      </dd>
    </div>
  )
