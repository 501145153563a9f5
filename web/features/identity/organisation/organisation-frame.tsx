import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { webhookEndpointsQuery } from '../../../api/attention-queries.ts'
import type { ReactElement } from 'react'
import { meQuery } from '../../../api/queries.ts'
import { can, type Action } from '../../../app/can.ts'
import { SettingsFrame } from '../../../frames/settings-frame.tsx'
import { AttentionDot } from '../../../ui/attention-dot.tsx'
import { organisationTexts } from './texts.ts'

/** The settings of the organisation, as far as the member may read them. */
export function OrganisationFrame() {
  const role = useQuery(meQuery).data?.user.role ?? 'viewer'
  const may = (action: Action) => can(role, action).allowed
  const endpoints = useQuery({ ...webhookEndpointsQuery, enabled: may('webhooks.read'), meta: { quiet: true } })
  const topics: (ReactElement | null)[] = [
    <Link key="general" {...paths.organisationGeneral()}>
      {organisationTexts.general}
    </Link>,
    <Link key="members" {...paths.members()}>
      {organisationTexts.members}
    </Link>,
    may('sso.manage') ? (
      <Link key="sso" {...paths.sso()}>
        {organisationTexts.sso}
      </Link>
    ) : null,
    may('webhooks.read') ? (
      <Link key="webhooks" {...paths.webhooks()} activeOptions={{ includeSearch: false }}>
        {organisationTexts.webhooks}
        {endpoints.data?.items.some((endpoint) => endpoint.needs_attention) === true ? <AttentionDot /> : null}
      </Link>
    ) : null,
    <Link key="api-keys" {...paths.apiKeys()}>
      {organisationTexts.apiKeys}
    </Link>,
    <Link key="assistant" {...paths.assistant()}>
      {organisationTexts.assistant}
    </Link>,
    may('imports.manage') ? (
      <Link key="import" {...paths.imports()}>
        {organisationTexts.import}
      </Link>
    ) : null,
    may('audit.read') ? (
      <Link key="audit" {...paths.audit()} activeOptions={{ includeSearch: false }}>
        {organisationTexts.audit}
      </Link>
    ) : null,
  ]
  return (
    <SettingsFrame name={organisationTexts.frame} heading={organisationTexts.heading} wide>
      {topics.filter((topic) => topic !== null)}
    </SettingsFrame>
  )
}
