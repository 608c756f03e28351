// SPDX-License-Identifier: Apache-2.0
// What stands behind an array. Private to this folder.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/device/runner.h"
#include "compiler/tensor/graph.h"

namespace ktpu::device {

class Device;

// An operation on other arrays. Once it is computed it has values, and no longer needs the others.
struct ArrayNode {
  ArrayNode() = default;
  ArrayNode(const ArrayNode&) = delete;
  ArrayNode& operator=(const ArrayNode&) = delete;
  ~ArrayNode();
  void become(Values computed);

  Device* device = nullptr;
  tensor::Node op;  // its args are numbered in `args`
  std::vector<std::shared_ptr<ArrayNode>> args;
  std::optional<Values> values;
  bool pinned = false;
};

// What the copies of an Array share: while it lives, the user holds the array.
struct ArrayHandle {
  std::shared_ptr<ArrayNode> node;
};

// By the host, from its argument's values.
Values host_step(const tensor::Node& step, const tensor::Node& argument, const Values& values);

}  // namespace ktpu::device
