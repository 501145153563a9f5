import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { requiredRole } from '#shared/permissions.ts'
import { meQuery } from '../api/queries.ts'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { can, type Action } from '../app/can.ts'
import { PageQuery } from './page-query.tsx'
import { SettingsHead } from './settings-frame.tsx'
import { frameTexts } from './frame-texts.ts'

type RestrictedPageProps = {
  title: string
  lead: string
  needs: Action
  actions?: ReactNode
  /** The content; rendered only for a role that may read it. */
  children: ReactNode
}

/** A settings page that not every role may read; others see its name and the role that it needs. */
export function RestrictedPage({ title, lead, needs, actions, children }: RestrictedPageProps) {
  const me = useQuery(meQuery)
  const allowed = me.data !== undefined && can(me.data.user.role, needs).allowed
  return (
    <>
      <SettingsHead title={title} of={null} lead={lead} actions={allowed ? actions : undefined} />
      {allowed ? (
        children
      ) : (
        <PageQuery query={me} what={title} heightPx={180}>
          {() => (
            <Card>
              <EmptyState kind="refused" heading="h2" title={frameTexts.forRole(requiredRole(needs))}>
                {frameTexts.forRoleMore}
              </EmptyState>
            </Card>
          )}
        </PageQuery>
      )}
    </>
  )
}
