import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { webhookEndpointsQuery } from '../../../api/webhook-queries.ts'
import { useCan } from '../../../app/can.ts'
import { SettingsFrame } from '../../../frames/settings-frame.tsx'
import { AttentionDot } from '../../../ui/attention-dot.tsx'
import { organisationTexts } from './texts.ts'

/** The settings of the organisation. */
export function OrganisationFrame() {
  const may = useCan('webhooks.read')
  const endpoints = useQuery({ ...webhookEndpointsQuery, enabled: may.allowed, meta: { quiet: true } })
  return (
    <SettingsFrame name={organisationTexts.frame} heading={organisationTexts.heading} wide>
      {[
        <Link key="members" {...paths.members()}>
          {organisationTexts.members}
        </Link>,
        <Link key="sso" {...paths.sso()}>
          {organisationTexts.sso}
        </Link>,
        <Link key="webhooks" {...paths.webhooks()} activeOptions={{ includeSearch: false }}>
          {organisationTexts.webhooks}
          {endpoints.data?.items.some((endpoint) => endpoint.needs_attention) === true ? <AttentionDot /> : null}
        </Link>,
        <Link key="api-keys" {...paths.apiKeys()}>
          {organisationTexts.apiKeys}
        </Link>,
        <Link key="assistant" {...paths.assistant()}>
          {organisationTexts.assistant}
        </Link>,
        <Link key="import" {...paths.imports()}>
          {organisationTexts.import}
        </Link>,
        <Link key="audit" {...paths.audit()} activeOptions={{ includeSearch: false }}>
          {organisationTexts.audit}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
