-- Health of StatefulSets of apps.rollcall.dev for Argo CD. docs/gitops.md says where it goes and what the answers mean.
local function answer(status, message)
  return {status = status, message = message}
end

local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end
local ready, stalled, progressing = conditions["Ready"], conditions["Stalled"], conditions["Progressing"]

if obj.metadata.deletionTimestamp ~= nil then
  return answer("Progressing", "the set is being deleted")
end
if ready == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return answer("Progressing", "the controller has yet to see the spec")
end
if stalled ~= nil and stalled.status == "True" then
  return answer("Degraded", stalled.reason .. ": " .. stalled.message)
end
if ready.status ~= "True" then
  return answer("Progressing", ready.message)
end
if progressing ~= nil and progressing.reason == "UpdatePaused" then
  return answer("Suspended", progressing.message)
end
if progressing ~= nil and (progressing.reason == "UpdateStaged" or progressing.reason == "UpdateWaiting") then
  return answer("Healthy", ready.message .. "; " .. progressing.message)
end
return answer("Healthy", ready.message)
