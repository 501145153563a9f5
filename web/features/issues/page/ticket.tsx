import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useCan } from '../../../app/can.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { FieldHint } from '../../../ui/field.tsx'
import { Time } from '../../../ui/time.tsx'
import { EmptyPlace } from './empty-place.tsx'
import { ticketTexts as texts } from './ticket-texts.ts'
import typeStyles from '../../../ui/type.module.css'

/** The ticket of the issue in the tracker, or the button that creates it. */
export function TicketCard({ issue }: { issue: IssueDetail }) {
  const { tracker, ticket } = issue.ticket
  const may = useCan('issues.write')
  const mayConnect = useCan('integrations.write').allowed
  const create = useChange({
    send: () => call('POST /api/issues/:issueId/tracker-ticket', { params: { issueId: issue.id } }),
    same: () => 'create',
    touches: () => [['issues', 'detail', issue.id]],
    failed: null,
  })
  const error =
    create.error === null ? null : (
      <FieldHint bad role="alert">
        {errorSentence(create.error)}
      </FieldHint>
    )
  const button = (
    <Button size="sm" icon="ticket" why={may.why} busy={create.isPending} onClick={() => create.mutate(undefined)}>
      {ticket === null ? texts.create : texts.createAgain}
    </Button>
  )
  if (ticket === null)
    return (
      <Card title={texts.title}>
        {tracker === 'not_connected' ? (
          <EmptyPlace icon="ticket" title={texts.noTracker} text={texts.noTrackerText}>
            {mayConnect ? (
              <Link {...paths.projectIntegrations(issue.project_id)} {...buttonLook({ size: 'sm' })}>
                <span>{texts.connect}</span>
              </Link>
            ) : null}
          </EmptyPlace>
        ) : (
          <CardFooter note={error ?? (tracker === 'broken' ? texts.broken : texts.none)}>{button}</CardFooter>
        )}
      </Card>
    )
  return (
    <Card
      title={texts.title}
      header={
        <Badge tone={ticket.state === 'closed' ? 'green' : 'plain'}>
          {ticket.status ?? texts.states[ticket.state]}
        </Badge>
      }
    >
      <CardFooter
        note={
          error ?? (
            <>
              {ticket.state === 'gone' ? (
                texts.gone(ticket.id)
              ) : (
                <a className={typeStyles.link} href={ticket.url} rel="noreferrer" target="_blank">
                  {ticket.id}
                </a>
              )}{' '}
              {texts.names[ticket.provider]}, <Time at={ticket.created_at} as="moment" />
            </>
          )
        }
      >
        {ticket.state === 'gone' ? button : null}
      </CardFooter>
    </Card>
  )
}
