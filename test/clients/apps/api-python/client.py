"""Lists issues, reads one, resolves it, and meets a wrong key, with the generated client `faultline`."""

import json
import os

from faultline import AuthenticatedClient
from faultline.api.issues import list_issues, read_issue, update_issue
from faultline.models import Error, Issue, IssueDetail, IssueStatus, ListIssuesResponse, UpdateIssueRequest

url = os.environ["FAULTLINE"]
client = AuthenticatedClient(base_url=url, token=os.environ["KEY"])
page = list_issues.sync(client=client, limit=2)
assert isinstance(page, ListIssuesResponse)
issue = read_issue.sync(page.items[0].id, client=client)
assert isinstance(issue, IssueDetail)
body = UpdateIssueRequest(status=IssueStatus.RESOLVED)
changed = update_issue.sync(issue.id, client=client, body=body)
assert isinstance(changed, Issue)
refused = list_issues.sync_detailed(client=AuthenticatedClient(base_url=url, token="svc_wrong"))
assert isinstance(refused.parsed, Error)
print(
    json.dumps(
        {
            "total": page.total,
            "title": issue.title,
            "status": changed.status.value,
            "refused": [int(refused.status_code), refused.parsed.error],
        }
    )
)
