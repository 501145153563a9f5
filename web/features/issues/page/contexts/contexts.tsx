import { Link } from '@tanstack/react-router'
import { paths } from '../../../../address/paths.ts'
import { Bar } from '../../../../ui/bar.tsx'
import { Breakable } from '../../../../ui/breakable.tsx'
import { Card } from '../../../../ui/card.tsx'
import { DisclosureIcon } from '../../../../ui/disclosure-icon.tsx'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import choiceStyles from '../../../../ui/choice.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import type { ReactNode } from 'react'
import { formatCount } from '../../../../ui/format.ts'
import { Icon } from '../../../../ui/icon.tsx'
import { KeyValues } from '../../../../ui/key-values.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { safeUrl } from '../../../../ui/safe-url.ts'
import { sortContexts, listCardFacts } from './facts.ts'
import { ValueText, Values, type Value } from './value.tsx'
import { LoadedImages } from './loaded-images.tsx'
import issueStyles from '../issue.module.css'
import styles from './contexts.module.css'
import typeStyles from '../../../../ui/type.module.css'

/** Context data of an event: request, user, contexts, extra, modules. */

/** From this share on, memory and storage are marked as almost full. */
const NEARLY_FULL = 0.9

/** The card at the side: facts about device and app. */
export function DeviceCard({
  event,
  traceId,
}: {
  event: Event
  /** The event's trace, when its spans are kept. */
  traceId: string | null
}) {
  const facts = listCardFacts(event)
  if (facts.length === 0) return null
  return (
    <Card
      title={issueTexts.device}
      header={
        traceId === null ? null : (
          <Link {...paths.trace(traceId)} className={typeStyles.link}>
            {issueTexts.openTrace}
          </Link>
        )
      }
    >
      <KeyValues narrow>
        {facts.map((fact) => (
          <div key={fact.label}>
            <dt>{fact.label}</dt>
            <dd className={fact.fill === undefined ? undefined : issueStyles.withBar}>
              {fact.fill === undefined ? null : (
                <Bar share={fact.fill} tone={fact.fill >= NEARLY_FULL ? 'warn' : 'plain'} className={issueStyles.bar} />
              )}
              <span
                className={fact.mono === true ? typeStyles.mono : undefined}
                title={fact.short === undefined ? undefined : fact.value}
              >
                <Breakable text={fact.short ?? fact.value} />
              </span>
            </dd>
          </div>
        ))}
      </KeyValues>
    </Card>
  )
}

export function RequestCard({ event: { request } }: { event: Event }) {
  if (request === null) return null
  const { method, url, query_string, headers, cookies, data, env } = request
  const href = url === null ? null : safeUrl(url)
  return (
    <Card title={issueTexts.request}>
      {url === null && method === null ? null : (
        <p className={styles.req}>
          <b className={typeStyles.mono}>{method ?? 'GET'}</b>{' '}
          {href === null ? (
            <span className={typeStyles.mono}>{url}</span>
          ) : (
            <a
              className={`${typeStyles.mono} ${typeStyles.link}`}
              href={href}
              rel="noopener noreferrer"
              target="_blank"
            >
              {url}
            </a>
          )}
        </p>
      )}
      {query_string === null || query_string === '' ? null : (
        <Part title={issueTexts.query}>{<Values values={queryOf(query_string)} />}</Part>
      )}
      {data === null ? null : <Part title={issueTexts.body}>{bodyOf(data)}</Part>}
      {cookies.length === 0 ? null : <Part title={issueTexts.cookies}>{<Values values={cookies} />}</Part>}
      {headers.length === 0 ? null : (
        <Fold title={issueTexts.headers} count={headers.length}>
          <Values values={headers} />
        </Fold>
      )}
      {env === null || Object.keys(env).length === 0 ? null : (
        <Fold title={issueTexts.environment} count={Object.keys(env).length}>
          <Values values={Object.entries(env)} />
        </Fold>
      )}
    </Card>
  )
}

const queryOf = (text: string): [string, string][] => [...new URLSearchParams(text)]

const bodyOf = (data: Value): ReactNode =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? (
    <Values values={Object.entries(data)} />
  ) : (
    <p className={styles.blocktext}>
      <ValueText value={data} />
    </p>
  )

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={issueStyles.part}>
      <h3>{title}</h3>
      {children}
    </div>
  )
}

/** A list in a `<details>` element, closed at first. */
function Fold({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  return (
    <details className={classNames(issueStyles.part, issueStyles.foldPart, choiceStyles.rowSummary)}>
      <summary>
        <DisclosureIcon />
        {title} <Minor>{formatCount(count)}</Minor>
      </summary>
      {children}
    </details>
  )
}

export function UserCard({ event: { user } }: { event: Event }) {
  if (user === null) return null
  const { data, geo, ...fields } = user
  const values: [string, Value][] = [
    ...Object.entries(fields).filter(([, value]) => value !== null),
    ...(geo === null ? [] : Object.entries(geo).map(([name, value]): [string, Value] => [`geo.${name}`, value])),
    ...Object.entries(data ?? {}),
  ]
  // A single value is already in the card at the side.
  if (values.length < 2) return null
  return (
    <Card title={issueTexts.user}>
      <Values values={values} />
    </Card>
  )
}

/** All contexts, additional data and modules, collapsed except the first. */
export function ContextsCard({ event }: { event: Event }) {
  const contexts = sortContexts(event)
  const extra = Object.entries(event.extra)
  const modules = Object.entries(event.modules).toSorted(([a], [b]) => a.localeCompare(b))
  const images = event.debug_images
  if (contexts.length + extra.length + modules.length + images.length === 0) return null
  return (
    <Card title={issueTexts.contexts} titleId="h-contexts">
      {extra.length === 0 ? null : (
        <Part title={issueTexts.extra}>
          <Values values={extra} />
        </Part>
      )}
      {contexts.map(([name, context]) => (
        <Fold key={name} title={name} count={Object.keys(context).length}>
          <Values values={Object.entries(context).filter(([key]) => key !== 'type')} />
        </Fold>
      ))}
      {modules.length === 0 ? null : (
        <Fold title={issueTexts.modules} count={modules.length}>
          <Values values={modules} />
        </Fold>
      )}
      {images.length === 0 ? null : (
        <Fold title={issueTexts.images} count={images.length}>
          <LoadedImages images={images} />
        </Fold>
      )}
    </Card>
  )
}

/** The changes that normalisation made to the event. */
export function ProcessingNotes({ event: { errors } }: { event: Event }) {
  if (errors.length === 0) return null
  return (
    <Card as="details" className={styles.notes}>
      <summary>
        <Icon name="info" />
        {issueTexts.notes} <Minor>{formatCount(errors.length)}</Minor>
      </summary>
      <Values values={errors.map(({ name, reason }) => [name, reason])} />
    </Card>
  )
}
