import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { DEFAULT_INBOUND_FILTERS, InboundFilters } from './inbound-filters.api.ts'

const shape = InboundFilters.shape
const standard = DEFAULT_INBOUND_FILTERS

const StoredInboundFilters = z
  .object({
    browser_extensions: shape.browser_extensions.catch(standard.browser_extensions),
    localhost: shape.localhost.catch(standard.localhost),
    web_crawlers: shape.web_crawlers.catch(standard.web_crawlers),
    legacy_browsers: shape.legacy_browsers.catch(standard.legacy_browsers),
    health_checks: shape.health_checks.catch(standard.health_checks),
    health_check_names: shape.health_check_names.catch(standard.health_check_names),
    releases: shape.releases.catch(standard.releases),
    messages: shape.messages.catch(standard.messages),
    ip_addresses: shape.ip_addresses.catch(standard.ip_addresses),
  })
  .catch(standard)

export const filterSettings = storedSettings({ inbound_filters: StoredInboundFilters })
